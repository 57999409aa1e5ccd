import type { ToolAnnotations } from '@patchboard/wire';
import type { AgentHandle } from './agent-handle.ts';
import { messageOf } from './failures.ts';
import { jsonCopy } from './json-copy.ts';
import type { Message } from './messages.ts';
import type { Outcome } from './outcome.ts';
import type { Clock } from './ports.ts';
import type { RegisteredTool } from './registered-tool.ts';

/** The call as a hook sees it. `args` and `input` are one value under the two names in use. */
export interface HookCall {
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
  readonly input: unknown;
  readonly runId: string;
  readonly agentId: string;
  readonly tenant: string;
  /** What the tool says of its risk; empty when the tool is gone. */
  readonly annotations: ToolAnnotations;
  /** What else it says of itself, such as `version` and `tags`. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** What a hook may say before a tool runs. Nothing: go on. */
export type HookDecision =
  | { readonly decision: 'ask'; readonly meta?: Readonly<Record<string, unknown>>; readonly reason?: string }
  | { readonly decision: 'deny'; readonly reason?: string; readonly toolResult?: unknown }
  /** For policies of mode `custom`, where nothing is allowed unless a hook says so. */
  | { readonly decision: 'allow' }
  /** This is the result; the tool is not run. */
  | { readonly result: unknown }
  /** Go on with these arguments; they are validated again. */
  | { readonly args: unknown }
  | void;

/** What a hook may say after a tool ran. Nothing: keep the result. */
export type PostHookResult =
  /** Merged into an object result, in place of any other. */
  | { readonly update: { readonly result: unknown } }
  | { readonly replace: { readonly content: unknown } }
  | void;

/** `agent` is whoever embeds the engine and asks; undefined over the network. */
export interface Hooks {
  preToolUse?(call: HookCall, agent?: AgentHandle): HookDecision | Promise<HookDecision>;
  postToolUse?(
    call: HookCall,
    result: unknown,
    agent?: AgentHandle,
  ): PostHookResult | Promise<PostHookResult>;
  /** The conversation of an agent in this process has grown. It only looks: what it throws is reported. */
  messagesChanged?(messages: readonly Message[], agent?: AgentHandle): void | Promise<void>;
}

/** Both names for the arguments hold one value. */
export function hookCall(
  call: { id: string; toolName: string; runId: string; agentId: string; tenant: string },
  tool: RegisteredTool | undefined,
  args: unknown,
): HookCall {
  const { id, toolName: name, runId, agentId, tenant } = call;
  const { annotations = {}, metadata } = tool ?? {};
  return { id, name, args, input: args, runId, agentId, tenant, annotations, metadata: metadata ?? {} };
}

/** In the order in which they are asked: the tool's own, the agent's, the server's. */
export function hooksOf(
  tool: RegisteredTool | undefined,
  agents: readonly Hooks[],
  servers: readonly Hooks[],
): readonly Hooks[] {
  const own = tool?.runsOn.kind === 'server' ? (tool.runsOn.tool.hooks ?? null) : null;
  if (own === null && agents.length === 0) return servers;
  return [...(own === null ? [] : [own]), ...agents, ...servers];
}

type Meta = Readonly<Record<string, unknown>>;

/** What all hooks together say. */
export type PreVerdict =
  | { readonly kind: 'deny'; readonly reason: string; readonly toolResult: unknown }
  | { readonly kind: 'ask'; readonly reason: string; readonly meta: Meta | null; readonly args: unknown }
  | { readonly kind: 'result'; readonly result: unknown; readonly args: unknown }
  | { readonly kind: 'allow' | 'none'; readonly args: unknown };

export interface HookRun {
  /** In order: the tool's own, the agent's, the global ones. */
  readonly hooks: readonly Hooks[];
  readonly call: HookCall;
  readonly agent: AgentHandle | undefined;
  readonly clock: Clock;
  readonly timeoutMs: number;
}

/**
 * Every hook is asked, each with the arguments as those before it left them. Any deny beats any earlier result or ask,
 * any ask beats a result. A hook that throws or takes too long has denied.
 */
export async function runPreHooks(run: HookRun): Promise<PreVerdict> {
  let { args } = run.call;
  let ask: { readonly reason: string; readonly meta: Meta | null } | null = null;
  let result: { readonly result: unknown } | null = null;
  let allowed = false;
  for (const hooks of run.hooks) {
    if (hooks.preToolUse === undefined) continue;
    // A copy for each: what a hook writes into it reaches nobody, `{args}` is the way that is checked.
    const shown = jsonCopy(args);
    const call = { ...run.call, args: shown, input: shown };
    const said = await askOne(run, () => hooks.preToolUse?.(call, run.agent));
    if (!said.ok) return { kind: 'deny', reason: said.reason, toolResult: undefined };
    const decision = said.value as Record<string, unknown> | null | undefined;
    if (decision === undefined || decision === null) continue;
    if (decision['decision'] === 'deny') {
      return {
        kind: 'deny',
        reason: textOr(decision['reason'], 'Denied by hook'),
        toolResult: jsonCopy(decision['toolResult']),
      };
    }
    if (decision['decision'] === 'ask') ask ??= question(decision);
    else if (decision['decision'] === 'allow') allowed = true;
    else if (Object.hasOwn(decision, 'result')) result ??= { result: decision['result'] };
    else if (Object.hasOwn(decision, 'args')) args = jsonCopy(decision['args']);
    else
      return { kind: 'deny', reason: 'a hook gave an answer that is not understood', toolResult: undefined };
  }
  if (ask !== null) return { kind: 'ask', ...ask, args };
  if (result !== null) return { kind: 'result', result: result.result, args };
  return { kind: allowed ? 'allow' : 'none', args };
}

/** The result as the hooks leave it. One that throws or takes too long fails the call: what it guards must not pass. */
export async function runPostHooks(
  run: HookRun,
  outcome: Outcome,
): Promise<Outcome | { readonly problem: string }> {
  if (outcome.kind !== 'ok') return outcome;
  let { value } = outcome;
  for (const hooks of run.hooks) {
    if (hooks.postToolUse === undefined) continue;
    const said = await askOne(run, () => hooks.postToolUse?.(run.call, value, run.agent));
    if (!said.ok) return { problem: said.reason };
    const change = said.value as Record<string, unknown> | null | undefined;
    if (change === undefined || change === null) continue;
    if (isPlain(change['replace'])) value = change['replace']['content'];
    else if (isPlain(change['update'])) value = updated(value, change['update']['result']);
    else return { problem: 'a hook gave an answer that is not understood' };
  }
  return value === outcome.value ? outcome : { kind: 'ok', value };
}

function updated(value: unknown, change: unknown): unknown {
  return isPlain(value) && isPlain(change) ? { ...value, ...change } : change;
}

type Said = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly reason: string };

async function askOne({ clock, timeoutMs }: HookRun, hook: () => unknown): Promise<Said> {
  let callOff = (): void => {};
  const overrun = new Promise<Said>((resolve) => {
    callOff = clock.after(timeoutMs, () =>
      resolve({ ok: false, reason: `a hook took more than ${timeoutMs} ms` }),
    );
  });
  const answer = (async (): Promise<Said> => {
    try {
      return { ok: true, value: await hook() };
    } catch (error) {
      return { ok: false, reason: `a hook failed: ${messageOf(error)}` };
    }
  })();
  const said = await Promise.race([answer, overrun]);
  callOff();
  return said;
}

function question(decision: Record<string, unknown>): { reason: string; meta: Meta | null } {
  const meta = metaOf(decision['meta']);
  return { reason: textOr(decision['reason'] ?? meta?.['reason'], 'a hook asks'), meta };
}

/** Kept with the call: what JSON cannot hold is left out, the question stays. */
function metaOf(given: unknown): Meta | null {
  const kept = jsonCopy(given);
  return isPlain(kept) ? kept : null;
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' && value !== '' ? value : otherwise;
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
