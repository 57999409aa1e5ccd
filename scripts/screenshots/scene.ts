import {
  connectDevice,
  createClient,
  deviceTool,
  type Device,
  type PatchboardClient,
  type Provider,
} from '@patchboard/client';
import type { SceneServer } from './server.ts';

/** The data on the server for the screenshots. */
export interface Scene {
  /** A call that failed, one that ran, and one that waits. */
  readonly ran: string;
  readonly waiting: string;
  /** Two runs of the same agent. */
  readonly runs: readonly [before: string, after: string];
  /** A call that an MCP client made. */
  readonly overMcp: string;
  close(): Promise<void>;
}

const DEPLOY_SCHEMA = {
  type: 'object',
  properties: {
    service: { type: 'string', description: 'What to deploy' },
    version: { type: 'string' },
    replicas: { type: 'integer', minimum: 1, maximum: 12, default: 2 },
    region: { enum: ['eu-west', 'us-east', 'ap-south'] },
    note: { type: ['string', 'null'], description: 'For the change log' },
    limits: {
      type: 'object',
      properties: { cpu: { type: 'number' }, memory_mb: { type: 'integer' } },
      additionalProperties: false,
    },
    schedule: {
      oneOf: [
        { title: 'now', type: 'object', properties: { kind: { const: 'now' } }, required: ['kind'] },
        {
          title: 'at a time',
          type: 'object',
          properties: { kind: { const: 'at' }, at: { type: 'string', format: 'date-time' } },
          required: ['kind', 'at'],
        },
      ],
    },
    labels: { type: 'array', items: { type: 'string' } },
  },
  required: ['service', 'version', 'region'],
  additionalProperties: false,
};

/** A policy with a typo and a shadowed line. */
const POLICY = {
  agents: {
    planner: {
      autoAllowTools: ['ops.status', 'weather.*'],
      requireApprovalTools: ['ops.*', 'database.qery', 'weather.query'],
    },
  },
  default: {
    autoDenyTools: ['contacts'],
    rules: [{ tools: 'database.*', effect: 'ask', when: [{ arg: '/sql', prefix: 'delete' }] }],
  },
};

export async function setScene(server: SceneServer): Promise<Scene> {
  const as = (agentId: string): PatchboardClient => createClient({ url: server.url, agentId });
  const lender = as('deployer').provider('ops-laptop');
  const stop = new AbortController();
  await lend(lender);
  const serving = serve(lender, stop.signal);
  const operator = createClient({ url: server.url, key: server.operatorToken });
  const before = await planRelease(as('planner'), ['search', 'mail']);
  const { ran, run } = await makeCalls(as, operator);
  const waiting = await askForApproval(as);
  const overMcp = await callOverMcp(server.url);
  await operator.policy.replace(POLICY);
  const device = demoPhone(server.url);
  await device.ready;
  return {
    ran,
    runs: [before, run],
    waiting,
    overMcp,
    async close() {
      await device.close();
      stop.abort();
      await serving;
    },
  };
}

function demoPhone(url: string): Device {
  return connectDevice(url, {
    clientId: 'demo',
    name: 'demo-phone',
    tools: ['device_info', 'camera', 'contacts', 'sensors'].map((name) =>
      deviceTool({
        name,
        description: `${name} (demo)`,
        parameters: { type: 'object' },
        run: () => ({ demo: true }),
      }),
    ),
  });
}

async function lend(lender: Provider): Promise<void> {
  await lender.register([
    {
      name: 'ops.deploy',
      description: 'Roll a version of a service out to a region',
      schema: DEPLOY_SCHEMA,
      annotations: { destructive: true },
    },
    {
      name: 'ops.status',
      description: 'What is deployed where',
      schema: { type: 'object', properties: { region: { type: 'string' } } },
      annotations: { readonly: true },
    },
  ]);
}

async function serve(lender: Provider, signal: AbortSignal): Promise<void> {
  try {
    for await (const request of lender.requests({ signal })) {
      await lender.ack(request.tool_call_id, { attemptToken: request.attempt_token });
      const result = { service: 'checkout', version: '4.2.0', region: 'eu-west', healthy: true };
      await lender.submit(
        request.tool_call_id,
        { status: 'SUCCEEDED', result },
        { attemptToken: request.attempt_token },
      );
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

async function makeCalls(
  as: (agentId: string) => PatchboardClient,
  operator: PatchboardClient,
): Promise<{ readonly ran: string; readonly run: string }> {
  const researcher = as('researcher');
  const planner = as('planner');
  const settle = { throwOnFailure: false } as const;
  for (let n = 1; n <= 14; n += 1) {
    await researcher.call('calculation.eval', { expression: `(${n}+4)*${n * 6}` }, settle);
  }
  await researcher.call('calculation.eval', { expression: '1/0' }, settle);
  await planner.call(
    'database.query',
    { sql: 'select name, price_cents from products order by price_cents limit 3' },
    settle,
  );
  await planner.call('database.query', { sql: 'select * from nowhere' }, settle);
  // Refused: there is no call.
  await planner.call('database.qery', { sql: 'select 1' }, settle).catch(() => undefined);
  await researcher.call('calculation.eval', { expresion: '1' }, settle).catch(() => undefined);
  await planner.call('ops.status', { region: 'eu-west' }, settle);
  const asked = await planner.invoke('ops.deploy', {
    service: 'checkout',
    version: '4.1.9',
    region: 'eu-west',
  });
  const [request] = (await operator.approvals().page()).items;
  if (request !== undefined) {
    await operator.decide(request.tool_call_id, {
      decision: 'allow',
      digest: request.digest,
      args: { service: 'checkout', version: '4.2.0', region: 'eu-west' },
      note: '4.1.9 was recalled',
      grant: { scope: 'exact', lifetimeSeconds: 3600 },
    });
  }
  await planner.wait(asked.tool_call_id);
  await planner.invoke('ops.deploy', { service: 'mail', version: '0.9.2', region: 'eu-west' });
  return { ran: asked.tool_call_id, run: planner.runId };
}

/** A run that is like the one of `makeCalls`. Resolves to its id. */
async function planRelease(planner: PatchboardClient, services: readonly string[]): Promise<string> {
  const settle = { throwOnFailure: false } as const;
  const sql = 'select name, price_cents from products order by price_cents limit 5';
  await planner.call('database.query', { sql }, settle);
  await planner.call('ops.status', { region: 'eu-west' }, settle);
  for (const service of services)
    await planner.call('calculation.eval', { expression: `${service.length}*6` }, settle);
  return planner.runId;
}

async function askForApproval(as: (agentId: string) => PatchboardClient): Promise<string> {
  const asked = await as('planner').invoke('ops.deploy', {
    service: 'search',
    version: '2.8.1',
    region: 'us-east',
    replicas: 4,
    limits: { cpu: 1.5, memory_mb: 2048 },
  });
  await as('researcher').invoke('ops.deploy', { service: 'billing', version: '1.0.0', region: 'ap-south' });
  return asked.tool_call_id;
}

/** Calls a tool as an MCP client does. Resolves to the id of the call. */
async function callOverMcp(url: string): Promise<string> {
  const version = '2026-07-28';
  const name = 'database__query';
  const sql = 'select name, price_cents from products order by price_cents limit 3';
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': version,
      'mcp-method': 'tools/call',
      'mcp-name': name,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name,
        arguments: { sql },
        _meta: {
          'io.modelcontextprotocol/protocolVersion': version,
          'io.modelcontextprotocol/clientInfo': { name: 'claude-code', version: '2.1' },
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    }),
  });
  const { result } = (await response.json()) as { result?: { _meta: Record<string, unknown> } };
  const id = result?._meta['patchboard/tool_call_id'];
  if (typeof id !== 'string') throw new Error(`POST /mcp returned HTTP ${response.status} without a call`);
  return id;
}
