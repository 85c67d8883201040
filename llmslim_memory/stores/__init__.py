"""Where turns live: in this process, SQLite, PostgreSQL, MongoDB."""
