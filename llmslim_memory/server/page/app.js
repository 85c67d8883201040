// The inspector: reads the HTTP API beside it and shows stored text as text, never as markup.

const byId = (id) => document.getElementById(id);
const state = { scopes: [], cursor: null, run: null, explanation: null, contents: new Map() };

function element(name, properties = {}, ...children) {
  const node = Object.assign(document.createElement(name), properties);
  node.append(...children);
  return node;
}

function say(text, bad = false) {
  byId("status").textContent = text;
  byId("status").classList.toggle("bad", bad);
}

async function call(path, options = {}) {
  const headers = { "Content-Type": "application/json" };
  const token = sessionStorage.getItem("token");
  if (token) headers.Authorization = `Bearer ${token}`;
  const response = await fetch(`../v1/${path}`, { ...options, headers });
  const body = await response.json();
  if (response.status === 401) byId("token-field").hidden = false;
  if (!response.ok) throw new Error(body.detail ?? response.statusText);
  return body;
}

function guarded(action) {
  return async (event) => {
    event?.preventDefault();
    try {
      say("Working ...");
      say((await action(event)) ?? "");
    } catch (error) {
      say(error.message, true);
    }
  };
}

const NONE = "(none)";
const unique = (values) => [...new Set(values)].sort((a, b) => (a ?? "").localeCompare(b ?? ""));

function fill(select, values, anyLabel) {
  const before = select.value;
  const options = values.map((value) => element("option", { value: value ?? "", textContent: value ?? NONE }));
  if (anyLabel) options.unshift(element("option", { value: "", textContent: anyLabel }));
  select.replaceChildren(...options);
  if ([...select.options].some((option) => option.value === before)) select.value = before;
}

function scope() {
  const ids = { user_id: byId("user").value, agent_id: byId("agent").value };
  return Object.fromEntries(Object.entries(ids).filter(([, value]) => value));
}

const inScope = (s) => (s.user_id ?? "") === byId("user").value && (!byId("agent").value || s.agent_id === byId("agent").value);

async function load() {
  state.scopes = (await call("scopes")).scopes;
  fill(byId("user"), unique(state.scopes.map((s) => s.user_id)));
  return chooseUser();
}

function chooseUser() {
  const agents = state.scopes.filter((s) => (s.user_id ?? "") === byId("user").value && s.agent_id).map((s) => s.agent_id);
  fill(byId("agent"), unique(agents), "any");
  return showSessions();
}

const amount = (number, thing) => `${number} ${thing}${number === 1 ? "" : "s"}`;
const day = (time) => new Date(time).toISOString().slice(0, 10);
const days = (s) => (day(s.first) === day(s.last) ? day(s.first) : `${day(s.first)} to ${day(s.last)}`);
const minute = (time) => new Date(time).toISOString().slice(0, 16).replace("T", " ");

function showSessions() {
  state.contents.clear();
  byId("session-view").hidden = byId("answer").hidden = true;
  const sessions = state.scopes.filter(inScope).sort((a, b) => a.first.localeCompare(b.first));
  byId("sessions").replaceChildren(
    ...sessions.map((s) => {
      const button = element("button", { type: "button" }, s.run_id ?? NONE);
      button.append(element("small", { textContent: `${days(s)}, ${amount(s.turns, "turn")}` }));
      button.addEventListener("click", guarded(() => openSession(s, button)));
      return element("li", {}, button);
    }),
  );
  return sessions.length ? amount(sessions.length, "session") : "Nothing is stored here.";
}

async function openSession(session, button) {
  for (const other of byId("sessions").querySelectorAll("button")) other.removeAttribute("aria-current");
  button.setAttribute("aria-current", "true");
  state.run = session;
  state.cursor = null;
  byId("turns").replaceChildren();
  byId("session-title").textContent = `Session ${session.run_id ?? NONE}`;
  byId("session-view").hidden = false;
  return moreTurns();
}

function parameters(ids) {
  return new URLSearchParams(Object.entries(ids).filter(([, value]) => value !== null && value !== undefined));
}

async function moreTurns() {
  const { user_id, agent_id, run_id } = state.run;
  const page = await call(`memories?${parameters({ user_id, agent_id, run_id, limit: 200, cursor: state.cursor })}`);
  // A session without a run id is listed with the rest of its scope, so its own turns are picked out here.
  const own = page.items.filter((item) => item.run_id === run_id && item.agent_id === agent_id);
  byId("turns").append(...own.map((item) => turnCard(item)));
  state.cursor = page.next_cursor;
  byId("more").hidden = page.next_cursor === null;
  return `${amount(byId("turns").children.length, "turn")} shown`;
}

function turnCard(item, why = null) {
  const meta = element("div", { className: "meta" }, element("b", { textContent: item.role }), minute(item.created_at));
  if (why) meta.append(...whyWords(why).map((words) => element("span", { textContent: words })));
  meta.append(eraseButton(item.id));
  const text = element("p", { className: "text", textContent: item.content });
  text.classList.toggle("long", item.content.length > 1200);
  return element("li", { className: why?.status ?? "" }, meta, text);
}

function whyWords(why) {
  const best = why.candidates.find((c) => c.rank !== null);
  return [
    why.status,
    why.reason?.replaceAll("_", " "),
    best && `rank ${best.rank} of ${why.pool} turns, score ${best.score.toFixed(3)}`,
    why.tokens > 0 && `${why.tokens} tokens, ${(100 * why.share).toFixed(1)} % of the budget`,
  ].filter(Boolean);
}

function eraseButton(id) {
  const button = element("button", { type: "button", className: "erase", textContent: "Delete" });
  button.addEventListener(
    "click",
    guarded(async () => {
      if (!confirm("Delete this turn for good?")) return "";
      await call(`memories/${encodeURIComponent(id)}`, { method: "DELETE" });
      button.closest("li").remove();
      state.contents.delete(id);
      return "Deleted.";
    }),
  );
  return button;
}

const budget = () => Number((50 * 320 ** (byId("budget").value / 100)).toPrecision(2));
const showBudget = () => (byId("budget-out").textContent = `${budget()} tokens`);

async function search() {
  const body = { query: byId("query").value, ...scope(), budget: budget(), explain: true };
  const ask = (format) => call("search", { method: "POST", body: JSON.stringify({ ...body, format }) });
  const [context, seen] = [await ask("text"), await ask("enveloped")];
  state.explanation = context.explanation;
  byId("seen").textContent = context.found ? seen.text : "Nothing in memory bears on this question.";
  byId("summary").textContent =
    `${context.tokens} of ${context.budget} tokens, from ${context.history_tokens} stored; ` +
    `${amount(context.turns.length, "turn")} of ${amount(context.sessions_kept, "session")}; ` +
    context.mode.replaceAll("_", " ") +
    `${context.explanation.route ? `, ${context.explanation.route} question` : ""}`;
  drawBar(context);
  byId("answer").hidden = false;
  await showWhy();
  return `Answered in ${context.elapsed_ms.toFixed(1)} ms`;
}

function drawBar({ explanation, budget: total }) {
  const parts = [
    ...explanation.sections.filter((s) => s.shown).map((s) => ({ kind: "section", tokens: s.tokens, name: s.name })),
    ...explanation.turns.filter((t) => t.tokens > 0).map((t) => ({ kind: t.status, tokens: t.tokens, name: t.role })),
  ];
  byId("bar").replaceChildren(
    ...parts.map(({ kind, tokens, name }) => {
      const piece = element("span", { className: `${kind} fill`, title: `${name}: ${tokens} tokens` });
      piece.style.width = `${(100 * tokens) / total}%`;
      return piece;
    }),
  );
}

const wanted = {
  shown: (turn) => turn.status !== "dropped",
  ranked: (turn) => turn.status !== "dropped" || turn.candidates.length > 0,
  all: () => true,
};

async function showWhy() {
  const turns = state.explanation.turns.filter(wanted[byId("filter").value]).slice(0, 500);
  const missing = turns.filter((turn) => !state.contents.has(turn.id));
  for (let start = 0; start < missing.length; start += 8) {
    const items = await Promise.all(
      missing.slice(start, start + 8).map((turn) => call(`memories/${encodeURIComponent(turn.id)}`).catch(() => null)),
    );
    for (const item of items) if (item) state.contents.set(item.id, item);
  }
  const known = turns.filter((turn) => state.contents.has(turn.id));
  byId("why").replaceChildren(...known.map((turn) => turnCard(state.contents.get(turn.id), turn)));
}

byId("scope-form").addEventListener("submit", guarded(async () => {
  if (byId("token").value) sessionStorage.setItem("token", byId("token").value);
  return load();
}));
byId("user").addEventListener("change", guarded(chooseUser));
byId("agent").addEventListener("change", guarded(showSessions));
byId("search-form").addEventListener("submit", guarded(search));
byId("filter").addEventListener("change", guarded(showWhy));
byId("more").addEventListener("click", guarded(moreTurns));
byId("budget").addEventListener("input", showBudget);
byId("budget").addEventListener("change", guarded(async () => (byId("answer").hidden ? "" : search())));
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) {
    event.preventDefault();
    byId("query").focus();
  }
});
showBudget();
guarded(load)();
