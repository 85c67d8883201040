"""A new session in another process: `second.py FOLDER` prints what a model would be shown, by way to remember."""

import json
import sys
from pathlib import Path

from llama_index.memory.llmslim import LLMSlimMemory

shown = {}
for path in Path(sys.argv[1]).glob("*.db"):
    memory = LLMSlimMemory.from_defaults(memory=path, user_id="ann")
    messages = memory.get(input="What is my dog called?")
    shown[path.stem] = "\n".join(f"{message.role.value}: {message.content}" for message in messages)
print(json.dumps(shown))
