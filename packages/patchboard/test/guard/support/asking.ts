import type { ServerTool } from '../../../src/core/tools/server-tool.ts';
import { aServerTool } from '../../support/an-engine.ts';
import type { TestPlatform } from './a-platform.ts';
import type { TestResponse } from './ask.ts';

export const SCHEMA = {
  type: 'object',
  properties: { path: { type: 'string' }, cents: { type: 'integer' } },
  additionalProperties: false,
} as const;

/** A tool that requires approval and records its arguments. */
export function askingTool(given: Partial<ServerTool> = {}): { tool: ServerTool; ran: unknown[] } {
  const ran: unknown[] = [];
  const tool = aServerTool({
    name: 'toy.delete',
    inputSchema: SCHEMA,
    annotations: { destructive: true },
    execute: (args) => {
      ran.push(args);
      return Promise.resolve('done');
    },
    ...given,
  });
  return { tool, ran };
}

export interface Waiting {
  readonly id: string;
  readonly digest: string;
  decide(body: Record<string, unknown>): Promise<TestResponse>;
  record(): Promise<TestResponse['json']>;
}

export async function callAs(
  server: TestPlatform,
  headers: Readonly<Record<string, string>>,
  args: unknown,
  prefer = 'wait=0',
): Promise<TestResponse> {
  return await server.ask({
    method: 'POST',
    path: '/v1/tools/toy.delete/invoke',
    headers: { ...headers, prefer },
    body: { run_id: 'run_1', args },
  });
}

export async function aWaitingCall(
  server: TestPlatform,
  args: unknown = { path: '/tmp/x' },
  headers: Readonly<Record<string, string>> = {},
): Promise<Waiting> {
  const made = await callAs(server, headers, args);
  return waiting(server, (made.json as { tool_call_id: string }).tool_call_id);
}

export async function waiting(server: TestPlatform, id: string): Promise<Waiting> {
  const { approvals } = (await server.asOperator('GET', '/v1/approvals')).json as {
    approvals: { tool_call_id: string; digest: string }[];
  };
  const shown = approvals.find((approval) => approval.tool_call_id === id);
  if (shown === undefined) throw new Error(`${id} does not wait`);
  const { digest } = shown;
  return {
    id,
    digest,
    decide: (body) => server.asOperator('POST', `/v1/tool_calls/${id}/decision`, { digest, ...body }),
    record: async () =>
      (
        await server.ask({
          method: 'GET',
          path: `/v1/tool_calls/${id}`,
          headers: { authorization: `Bearer ${server.operatorToken}`, prefer: 'wait=20' },
        })
      ).json,
  };
}

export async function ledgerOf(server: TestPlatform, id: string): Promise<{ kind: string; body: unknown }[]> {
  const response = await server.asOperator('GET', `/v1/ledger?tool_call_id=${id}`);
  return (response.json as { rows: { kind: string; body: unknown }[] }).rows;
}
