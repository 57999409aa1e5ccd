import type { CallView } from '@patchboard/wire';
import type { TestResponse } from '../../guard/support/ask.ts';
import type { TestPlatform } from '../../guard/support/a-platform.ts';

type Asking = Pick<TestPlatform, 'ask'>;

export interface Asked {
  readonly args?: unknown;
  readonly run?: string;
  readonly target?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function bodyOf({ args = {}, run = 'run_devices', target }: Asked): unknown {
  return { run_id: run, args, ...(target === undefined ? {} : { target }) };
}

/** The receipt, or the refusal. */
export async function invoke(server: Asking, tool: string, asked: Asked = {}): Promise<TestResponse> {
  const path = `/v1/tools/${tool}/invoke`;
  return await server.ask({ method: 'POST', path, body: bodyOf(asked), headers: { ...asked.headers } });
}

/** The id of an accepted call. */
export async function callId(server: Asking, tool: string, asked: Asked = {}): Promise<string> {
  const response = await invoke(server, tool, asked);
  if (response.status !== 202) throw new Error(`not taken: ${response.status} ${response.text}`);
  return (response.json as { tool_call_id: string }).tool_call_id;
}

/** Waits for the end of the call and returns its record. */
export async function ended(
  server: Asking,
  id: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<CallView> {
  for (;;) {
    const path = `/v1/tool_calls/${id}`;
    const response = await server.ask({ method: 'GET', path, headers: { ...headers, prefer: 'wait=20' } });
    const call = response.json as CallView;
    if (response.status !== 200) throw new Error(`no such record: ${response.status} ${response.text}`);
    if (call.completed_at !== null) return call;
  }
}

export async function toolNames(
  server: Asking,
  path = '/v1/tools',
  headers: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  const { json } = await server.ask({ method: 'GET', path, headers });
  return (json as { tools: { name: string; source: string }[] }).tools
    .filter(({ source }) => source === 'client')
    .map(({ name }) => name);
}
