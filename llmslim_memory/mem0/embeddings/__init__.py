"""Where programs import `EmbedderConfig` from."""
