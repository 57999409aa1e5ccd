import { Agent, request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { HEADERS, type CallView } from './a-node.ts';

export interface LoadReport {
  /** What was not as it should be. */
  readonly failed: readonly string[];
  /** The ids of calls that have ended well. */
  readonly calls: readonly string[];
  /** The processes that ran them. */
  readonly ranIn: readonly number[];
}

interface Sent {
  readonly method?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Sends a request over the connection of the agent, or another one if that was closed. Repeats nothing. */
async function send(
  url: string,
  agent: Agent,
  { method = 'GET', headers, body }: Sent,
): Promise<{ readonly status: number; readonly text: string }> {
  return await new Promise((resolve, reject) => {
    const request = httpRequest(url, { method, headers, agent }, (response) => {
      const status = response.statusCode ?? 0;
      text(response).then((read) => resolve({ status, text: read }), reject);
    });
    request.once('error', reject).end(body);
  });
}

/** Submits one call after the other over one connection and reads each again, until `stop`. Repeats nothing. */
export async function load(url: string, stop: AbortSignal): Promise<LoadReport> {
  const failed: string[] = [];
  const calls: string[] = [];
  const ranIn: number[] = [];
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const request = async (path: string, sent: Sent): Promise<CallView | null> => {
    try {
      const response = await send(`${url}${path}`, agent, sent);
      if (response.status < 300) return JSON.parse(response.text) as CallView;
      failed.push(`${response.status} ${response.text}`);
    } catch (error) {
      failed.push(String(error));
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
  agent.destroy();
  return { failed, calls, ranIn };
}
