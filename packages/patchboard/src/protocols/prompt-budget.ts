import type { ToolDefinitionInput } from './tool-module.ts';

export interface Budget {
  /** In characters. */
  readonly budget: number;
  /** Text of the conversation, to rank tools by. */
  readonly relevantTo: string;
}

type Write = (tools: readonly ToolDefinitionInput[]) => string;

/** Writes every tool if they fit; else the most relevant ones in full, and the names of the rest. */
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
  // Binary search for the number of tools that fit.
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

/** Sorts tools by the words they share with the conversation; the sort is stable. */
function rank(tools: readonly ToolDefinitionInput[], relevantTo: string): readonly ToolDefinitionInput[] {
  const wanted = wordsIn(relevantTo);
  if (wanted.size === 0) return tools;
  const scored = tools.map((tool) => ({ tool, score: scoreOf(tool, wanted) }));
  return scored.toSorted((a, b) => b.score - a.score).map(({ tool }) => tool);
}

/** Words in the name weigh more than words in the description. */
function scoreOf({ toolId, toolName, methods }: ToolDefinitionInput, wanted: ReadonlySet<string>): number {
  const names = wordsIn([toolId, toolName, ...methods.map(({ name }) => name)].join(' '));
  const texts = wordsIn(methods.map(({ description = '' }) => description).join(' '));
  let score = 0;
  for (const word of wanted) score += (names.has(word) ? 3 : 0) + (texts.has(word) ? 1 : 0);
  return score;
}

/** Words of letters and digits. Chinese text has no word boundaries, so each pair of characters is a word. */
function wordsIn(text: string): ReadonlySet<string> {
  const plain = text.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  const words = new Set(plain.match(/[\p{Script=Latin}\p{Script=Cyrillic}\d]{2,}/gu) ?? []);
  for (const run of plain.match(/\p{Script=Han}+/gu) ?? [])
    for (let at = 0; at < Math.max(1, run.length - 1); at += 1) words.add(run.slice(at, at + 2));
  return words;
}
