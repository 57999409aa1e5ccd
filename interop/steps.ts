import assert from 'node:assert/strict';
import type { Target } from './client-run.ts';
import { Operator } from './operator.ts';

/** A result of `tools/call`, as far as the steps read it. */
export interface ToolResult {
  readonly content?: unknown;
  readonly isError?: boolean | undefined;
}

/** A request of the server for input of the user. */
export interface Elicitation {
  readonly mode?: string | undefined;
  readonly message: string;
  readonly url?: string | undefined;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: {
    readonly progress: number;
    readonly total?: number | undefined;
  }) => void;
}

/** A connected client of either SDK. */
export interface Session {
  toolNames(): Promise<string[]>;
  call(name: string, args: Readonly<Record<string, unknown>>, options?: CallOptions): Promise<ToolResult>;
}

/** Responds to elicitations: fills the form, or approves the call behind the link as an operator would. */
export function user(target: Target): (request: Elicitation) => Promise<ElicitResult> {
  return async ({ mode, url = '' }) => {
    if (mode !== 'url') return { action: 'accept', content: { username: 'ada', email: 'ada@example.org' } };
    const id = new URL(url).searchParams.get('id');
    assert.ok(id !== null, `the link has no call: ${url}`);
    await (await Operator.of(target)).approve(id);
    return { action: 'accept' };
  };
}

type ElicitResult =
  { readonly action: 'accept'; readonly content: Record<string, string> } | { readonly action: 'accept' };

export const STEPS = 'list, call, progress, form, approval link, cancel, unknown tool';

/** What every client of the official SDKs does. */
export async function walk(session: Session, target: Target): Promise<void> {
  const names = await session.toolNames();
  assert.ok(names.includes('calculation__eval'), `the list has no calculation__eval: ${names.join(', ')}`);
  assert.equal(textOf(await session.call('greet', { name: 'Ada' })), 'Hello, Ada!');

  const seen: number[] = [];
  await session.call(
    'test_tool_with_progress',
    {},
    { onProgress: ({ progress }) => void seen.push(progress) },
  );
  assert.deepEqual(seen, [0, 50, 100]);

  const form = textOf(await session.call('test_elicitation', { message: 'Who are you?' }));
  assert.match(form, /action=accept.*ada@example\.org/);

  assert.equal(textOf(await session.call('needs_approval', {})), 'An operator approved this call.');

  const operator = await Operator.of(target);
  const hangUp = new AbortController();
  const cancelled = assert.rejects(session.call('slow_compute', { seconds: 25 }, { signal: hangUp.signal }));
  const started = await operator.callIn('EXECUTING', 'slow_compute');
  hangUp.abort();
  await cancelled;
  assert.equal(await operator.callIn('CANCELLED', 'slow_compute'), started);

  await assert.rejects(session.call('no_such_tool', {}), { code: -32602 });
}

export function textOf({ content, isError }: ToolResult): string {
  const [block] = content as readonly { readonly type: string; readonly text?: string }[];
  assert.notEqual(isError, true, `the call failed: ${block?.text}`);
  assert.equal(block?.type, 'text');
  return block.text ?? '';
}
