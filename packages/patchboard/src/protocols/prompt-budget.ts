import type { ToolDefinitionInput } from './tool-module.ts';

export interface Budget {
  /** Characters. */
  readonly budget: number;
  /** What the conversation is about. */
  readonly relevantTo: string;
}

type Write = (tools: readonly ToolDefinitionInput[]) => string;

/** Every tool if there is room; else those that matter most, in full, and the names of the rest. */
export function fitToBudget(
  tools: readonly ToolDefinitionInput[],
  write: Write,
  { budget, relevantTo }: Budget,
): string {
  const whole = write(tools);
  if (whole.length <= budget) return whole;
  const ranked = rank(tools, relevantTo);
  let few = 0;
  let many = ranked.length;
  // How many fit is found by halving: writing them all, one more each time, would take too long.
  while (few < many) {
    const half = Math.ceil((few + many) / 2);
    if (withNames(ranked, half, write).length <= budget) few = half;
    else many = half - 1;
  }
  return withNames(ranked, few, write);
}

function withNames(ranked: readonly ToolDefinitionInput[], shown: number, write: Write): string {
  const definitions = write(ranked.slice(0, shown));
  const rest = ranked
    .slice(shown)
    .flatMap(({ toolId, methods }) =>
      methods.map(({ name, registeredName }) => registeredName ?? `${toolId}_${name}`),
    );
  if (rest.length === 0) return definitions;
  const names = `There are more tools, of which only the names are given here: ${rest.join(', ')}.`;
  return definitions === '' ? names : `${definitions}\n\n${names}`;
}

/** Those that share words with the conversation first, otherwise in their own order. */
function rank(tools: readonly ToolDefinitionInput[], relevantTo: string): readonly ToolDefinitionInput[] {
  const wanted = wordsIn(relevantTo);
  if (wanted.size === 0) return tools;
  const scored = tools.map((tool) => ({ tool, score: scoreOf(tool, wanted) }));
  return scored.toSorted((a, b) => b.score - a.score).map(({ tool }) => tool);
}

/** A word in the name counts more than one in the description. */
function scoreOf({ toolId, toolName, methods }: ToolDefinitionInput, wanted: ReadonlySet<string>): number {
  const names = wordsIn([toolId, toolName, ...methods.map(({ name }) => name)].join(' '));
  const texts = wordsIn(methods.map(({ description = '' }) => description).join(' '));
  let score = 0;
  for (const word of wanted) score += (names.has(word) ? 3 : 0) + (texts.has(word) ? 1 : 0);
  return score;
}

/** Words of letters and digits; Chinese has none, so every pair of its characters counts as one. */
function wordsIn(text: string): ReadonlySet<string> {
  const plain = text.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  const words = new Set(plain.match(/[\p{Script=Latin}\p{Script=Cyrillic}\d]{2,}/gu) ?? []);
  for (const run of plain.match(/\p{Script=Han}+/gu) ?? [])
    for (let at = 0; at < Math.max(1, run.length - 1); at += 1) words.add(run.slice(at, at + 2));
  return words;
}
