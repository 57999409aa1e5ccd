import { tool, type AgentPermission, type AnyTool } from '../../src/index.ts';
import type { Script } from '../../src/testing/index.ts';

/** Where the child kills itself. */
export type CrashPoint =
  | 'message.before'
  | 'message.after'
  | 'partial.after'
  | 'reply.half'
  | 'call.recorded'
  | 'asked.after'
  | 'tool.begun'
  | 'tool.effect'
  | 'result.after'
  | 'ending.recorded'
  | 'model.before';

/** A tool with a countable effect, and one that requires approval. */
export function crashTools(
  effect: (line: string) => void,
  reach: (point: CrashPoint) => void,
  secondMayGo: Promise<void> = Promise.resolve(),
  firstMayGo: Promise<void> = Promise.resolve(),
): AnyTool[] {
  const act = async ({ what }: { what: string }): Promise<{ did: string }> => {
    await (what === 'second' ? secondMayGo : firstMayGo);
    reach('tool.begun');
    effect(what);
    reach('tool.effect');
    return { did: what };
  };
  return [tool('act', act), tool('act.carefully', act)];
}

export const PERMISSION: AgentPermission = { mode: 'auto', requireApprovalTools: ['act.carefully'] };

/**
 * The scripted model: two calls at once, then optionally one that requires approval, then the last message.
 */
export function storyOf(careful: boolean): Script {
  return ({ body }) => {
    const { messages } = body as { messages: { role: string }[] };
    const rounds = messages.filter(({ role }) => role === 'assistant').length;
    if (rounds === 0)
      return {
        text: 'I will.',
        calls: [
          { name: 'act', args: { what: 'first' }, id: 'a' },
          { name: 'act', args: { what: 'second' }, id: 'b' },
        ],
      };
    if (rounds === 1 && careful)
      return { calls: [{ name: 'act.carefully', args: { what: 'third' }, id: 'c' }] };
    return 'The end.';
  };
}
