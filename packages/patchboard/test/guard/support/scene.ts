import { mkdirSync } from 'node:fs';
import { KeyService } from '../../../src/core/access/key-service.ts';
import { SCOPES, type Scope } from '../../../src/core/access/scopes.ts';
import type { ServerTool } from '../../../src/core/tools/server-tool.ts';
import { nodeDigest } from '../../../src/runtime/digest.ts';
import { timeOrderedIds } from '../../../src/runtime/ids.ts';
import { sqliteStore } from '../../../src/store/sqlite/sqlite-store.ts';
import { aPrincipal, aServerTool, silentLog } from '../../support/an-engine.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { aDataFolder, aPlatform, type DataFolder, type MintedKey, type TestPlatform } from './a-platform.ts';
import { UNKNOWN, type Ids } from './route-samples.ts';

export const echoTool: ServerTool = aServerTool({ name: 'toy.echo' });
/** Requires approval. */
export const deleteTool: ServerTool = aServerTool({
  name: 'toy.delete',
  annotations: { destructive: true },
  inputSchema: {
    type: 'object',
    properties: { path: { type: 'string' }, n: { type: 'integer' } },
    additionalProperties: false,
  },
});

/** A server with keys, and one object of every kind in tenant `default`. */
export interface Scene extends TestPlatform {
  readonly boss: MintedKey;
  /** The operator of another tenant, under the same name. */
  readonly stranger: MintedKey;
  /** Another agent of the same tenant, with all scopes. */
  readonly neighbour: MintedKey;
  readonly expired: { readonly authorization: string };
  readonly revoked: MintedKey;
  /** All scopes except this one. */
  readonly without: ReadonlyMap<Scope, MintedKey>;
  /** Ids that `boss` may access. */
  readonly ids: Ids;
  /** A call that waits for a client to run it. */
  readonly clientCall: string;
}

export async function aScene(): Promise<Scene> {
  const folder = aDataFolder();
  const expired = await plantExpiredKey(folder);
  const server = await aPlatform({ folder, tools: [echoTool, deleteTool] });
  const boss = await server.mint({ kind: 'operator', name: 'boss' });
  const agent = await server.mint({ kind: 'agent', name: 'agent-a' });
  const revoked = await server.mint({ kind: 'operator', name: 'boss' });
  await server.asOperator('DELETE', `/v1/keys/${revoked.id}`);
  const without = new Map<Scope, MintedKey>();
  for (const scope of SCOPES) {
    const scopes = SCOPES.filter((other) => other !== scope);
    without.set(scope, await server.mint({ kind: 'operator', name: 'boss', scopes }));
  }
  const waiting = await invoke(server, agent, 'toy.delete');
  const { grant } = await giveGrant(server, agent);
  const clientCall = await lendAndCall(server, boss, agent);
  return {
    ...server,
    boss,
    stranger: await server.mint({ kind: 'operator', name: 'boss', tenant: 'other' }),
    neighbour: await server.mint({ kind: 'agent', name: 'agent-b', scopes: SCOPES }),
    expired: { authorization: `Bearer ${expired}` },
    revoked,
    without,
    ids: {
      ...UNKNOWN,
      call: waiting.id,
      digest: waiting.digest,
      run: 'run_a',
      key: agent.id,
      grant,
      client: 'boss',
      tool: 'toy.echo',
      token: server.operatorToken,
    },
    clientCall,
    close: async () => {
      await server.close();
      folder.remove();
    },
  };
}

async function plantExpiredKey(folder: DataFolder): Promise<string> {
  mkdirSync(folder.path, { recursive: true, mode: 0o700 });
  const store = await sqliteStore({ file: folder.storeFile, digest: nodeDigest });
  const clock = new FakeClock(1_600_000_000_000);
  const service = new KeyService({
    store,
    clock,
    ids: timeOrderedIds(clock),
    digest: nodeDigest,
    log: silentLog,
  });
  const maker = aPrincipal({ kind: 'operator', scopes: new Set(SCOPES) });
  const minted = await service.mint(maker, {
    tenant: 'default',
    kind: 'operator',
    name: 'boss',
    scopes: null,
    expiresAt: clock.now() + 1000,
  });
  await store.close();
  if ('code' in minted) throw new Error(minted.message);
  return minted.secret;
}

async function invoke(
  server: TestPlatform,
  agent: MintedKey,
  tool: string,
): Promise<{ id: string; digest: string }> {
  const made = await server.ask({
    method: 'POST',
    path: `/v1/tools/${tool}/invoke`,
    headers: agent.headers,
    body: { run_id: 'run_a', args: {} },
  });
  const id = (made.json as { tool_call_id: string }).tool_call_id;
  const call = await server.asOperator('GET', `/v1/tool_calls/${id}`);
  return { id, digest: (call.json as { approval: { digest: string } | null }).approval?.digest ?? '' };
}

async function giveGrant(server: TestPlatform, agent: MintedKey): Promise<{ grant: string }> {
  const { id, digest } = await invoke(server, agent, 'toy.delete');
  await server.asOperator('POST', `/v1/tool_calls/${id}/decision`, {
    decision: 'allow',
    digest,
    grant: { scope: 'exact', lifetime_s: 1 },
  });
  const { grants } = (await server.asOperator('GET', '/v1/grants')).json as {
    grants: { grant_id: string }[];
  };
  return { grant: grants[0]!.grant_id };
}

async function lendAndCall(server: TestPlatform, boss: MintedKey, agent: MintedKey): Promise<string> {
  await server.ask({
    method: 'POST',
    path: '/internal/tools/register',
    headers: boss.headers,
    body: { client_id: 'boss', tools: [{ name: 'lent.tool', schema: { type: 'object' } }] },
  });
  return (await invoke(server, agent, 'lent.tool')).id;
}
