import { InputRequired, type InputRequest } from '../../../src/core/call/input.ts';
import { ToolFailure } from '../../../src/core/failures.ts';
import type { ServerTool, ToolContext } from '../../../src/core/tools/server-tool.ts';
import type { SimulatedProcess } from '../simulated-process.ts';
import type { World } from '../world.ts';

interface AskingArgs {
  readonly n: number;
  /** How many requests a tool returns together, or makes one after the other. */
  readonly questions: number;
}

/** The request of every asking tool; the content of an accepted response is a number that no other response has. */
export const QUESTION: InputRequest = {
  message: 'Which number?',
  schema: { type: 'object', properties: { answer: { type: 'integer' } }, required: ['answer'] },
};

export const ASKING_TOOLS: readonly string[] = ['ask.held', 'ask.held.idempotent', 'ask.returned'];

/** Server tools that ask their callers. Their results contain the answers that they got. */
export function askingTools(world: World, process: SimulatedProcess): ServerTool[] {
  return ASKING_TOOLS.map((name) => ({
    name,
    description: name,
    inputSchema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
    outputSchema: null,
    timeoutMs: 3000,
    annotations: name.endsWith('.idempotent') ? { idempotent: true } : {},
    metadata: null,
    concurrency: null,
    execute: (args, context) =>
      name === 'ask.returned'
        ? returned(world, process, name, args as AskingArgs, context)
        : held(world, process, name, args as AskingArgs, context),
  }));
}

async function held(
  world: World,
  process: SimulatedProcess,
  tool: string,
  args: AskingArgs,
  context: ToolContext,
): Promise<unknown> {
  const { callId, attempt } = context;
  const effect = { tool, callId, attempt, args };
  world.effects.begin(process, effect);
  const answers: unknown[] = [];
  while (answers.length < args.questions) {
    try {
      const content = (await context.requestInput(QUESTION)) as { readonly answer: number };
      answers.push(content.answer);
      gotAnswer(world, process.name, callId, content.answer);
    } catch (error) {
      if (!(error instanceof ToolFailure) || error.failure.code !== 'input_declined') throw error;
      answers.push(null);
    }
  }
  world.effects.act(process, effect);
  return { n: args.n, answers };
}

/** Counts as begun when it has its answers: it does nothing before. */
function returned(
  world: World,
  process: SimulatedProcess,
  tool: string,
  args: AskingArgs,
  { callId, attempt, inputs }: ToolContext,
): unknown {
  const keys = Array.from({ length: args.questions }, (_, index) => `q${index + 1}`);
  if (keys.some((key) => inputs[key] === undefined))
    return new InputRequired(Object.fromEntries(keys.map((key) => [key, QUESTION])));
  const effect = { tool, callId, attempt, args };
  world.effects.begin(process, effect);
  const answers = keys.map(
    (key) => (inputs[key]?.content as { readonly answer: number } | null)?.answer ?? null,
  );
  for (const answer of answers) if (answer !== null) gotAnswer(world, process.name, callId, answer);
  world.effects.act(process, effect);
  return { n: args.n, answers };
}

/** Notes that a tool, wherever it runs, got the answer to its input request. */
export function gotAnswer(world: World, who: string, call: string, answer: unknown): void {
  world.history.add(who, 'answer received', { call, answer });
}
