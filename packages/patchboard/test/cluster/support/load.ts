import { HEADERS, type CallView } from './a-node.ts';

export interface LoadReport {
  /** What was not as it should be. */
  readonly failed: readonly string[];
  /** The ids of calls that have ended well. */
  readonly calls: readonly string[];
  /** The processes that ran them. */
  readonly ranIn: readonly number[];
}

/** Submits one call after the other and reads each again, until `stop`. Repeats nothing. */
export async function load(url: string, stop: AbortSignal): Promise<LoadReport> {
  const failed: string[] = [];
  const calls: string[] = [];
  const ranIn: number[] = [];
  const request = async (path: string, init: RequestInit): Promise<CallView | null> => {
    try {
      const response = await fetch(`${url}${path}`, init);
      const text = await response.text();
      if (response.status < 300) return JSON.parse(text) as CallView;
      failed.push(`${response.status} ${text}`);
    } catch (error) {
      failed.push(String((error as Error).cause ?? error));
    }
    return null;
  };
  const headers = { ...HEADERS, prefer: 'wait=20' };
  while (!stop.aborted) {
    const call = await request('/v1/tools/test.effect/invoke', {
      method: 'POST',
      headers,
      body: JSON.stringify({ run_id: 'r1', args: { ms: 20 } }),
    });
    if (call === null) continue;
    calls.push(call.tool_call_id);
    const ended = await request(`/v1/tool_calls/${call.tool_call_id}`, { headers });
    if (ended === null) continue;
    if (ended.status !== 'SUCCEEDED') failed.push(JSON.stringify(ended));
    else ranIn.push((ended.result as { readonly pid: number }).pid);
  }
  return { failed, calls, ranIn };
}
