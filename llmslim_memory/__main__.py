"""``python -m llmslim_memory`` is the command line."""

from llmslim_memory.cli import main

if __name__ == "__main__":
    main()
