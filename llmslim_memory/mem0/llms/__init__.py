"""Where programs import `LlmConfig` from."""
