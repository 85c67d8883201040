"""Ask why a search shows what it shows: as a table, and as a drawing for a browser.

python examples/search_explained.py [explanation.html]
"""

import sys
from pathlib import Path

from rich.console import Console

from llmslim_memory import Memory
from llmslim_memory.cli.demo import example_turns
from llmslim_memory.drawing import draw_table

with Memory() as memory:
    for turn in example_turns():
        memory.add(turn, user_id="mira", run_id=turn["session_id"])
    context = memory.search("Have I ever used Docker?", user_id="mira", budget=200, explain=True)

print(context.text)

explanation = context.explanation
assert explanation is not None
assert explanation.unattributed_tokens == 0  # every token of the text belongs to a turn or a section
console = Console()
console.print(draw_table(explanation, dropped=4, width=console.width))
for section in explanation.sections:
    print(f"{section.name}: {section.tokens} tokens")

drawing = explanation.to_html()  # one piece of HTML; a notebook shows it by itself
print(f"as HTML: {len(drawing):,} characters")
for path in sys.argv[1:]:
    Path(path).write_text(drawing, encoding="utf-8")
