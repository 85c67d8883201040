"""Where programs import `VectorStoreConfig` from."""
