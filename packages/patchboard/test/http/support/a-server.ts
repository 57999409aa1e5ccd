import type { AddressInfo } from 'node:net';
import type {} from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { Engine } from '../../../src/core/engine.ts';
import { GrantService } from '../../../src/core/access/grant-service.ts';
import { GrantIndex } from '../../../src/core/access/grants.ts';
import type { Guard } from '../../../src/core/access/guard.ts';
import { followAccessChanges } from '../../../src/core/access/access-changes.ts';
import { MemoryTokens } from '../../../src/core/access/memory-tokens.ts';
import { KeyService } from '../../../src/core/access/key-service.ts';
import { resolveLimits, type Limits } from '../../../src/core/limits.ts';
import { PolicyGuard } from '../../../src/core/access/policy-guard.ts';
import { PolicyService } from '../../../src/core/access/policy-service.ts';
import { EMPTY_POLICY } from '../../../src/core/access/policy/document.ts';
import { singleNode, type Peers } from '../../../src/core/peers.ts';
import type { Clock, Log, Store } from '../../../src/core/ports.ts';
import { DEFAULT_RATES, RateLimits } from '../../../src/core/access/rate-limits.ts';
import { TenantService } from '../../../src/core/access/tenant-service.ts';
import { TenantDirectory } from '../../../src/core/access/tenant-directory.ts';
import { Redactor } from '../../../src/core/call/redaction.ts';
import { NO_WORKSPACES } from '../../../src/core/workspaces.ts';
import type { ServerTool } from '../../../src/core/tools/server-tool.ts';
import { ROUTES } from '../../../src/wiring/apis.ts';
import { InternalKeys } from '../../../src/identity/internal-keys.ts';
import { CredentialAuthenticator } from '../../../src/identity/credential-authenticator.ts';
import { OperatorTokenGuard } from '../../../src/identity/operator-token-guard.ts';
import { Sessions } from '../../../src/identity/sessions.ts';
import { nodeDigest } from '../../../src/runtime/digest.ts';
import { timeOrderedIds } from '../../../src/runtime/ids.ts';
import { nodeClock } from '../../../src/runtime/node-clock.ts';
import { nodeHeap } from '../../../src/runtime/node-heap.ts';
import { jsonSchemas } from '../../../src/schemas/json-schemas.ts';
import { memoryStore } from '../../../src/store/memory/memory-store.ts';
import { createHttpApp } from '../../../src/transports/shared/http/app.ts';
import type { HttpLimits } from '../../../src/transports/shared/http/http-limits.ts';
import type { ResourceSettings } from '../../../src/transports/shared/routes/challenge.ts';
import type { Route } from '../../../src/transports/shared/routes/routes.ts';
import type { Nodes } from '../../../src/core/nodes.ts';
import { singleNodeList } from '../../../src/wiring/single-node-list.ts';
import { silentLog } from '../../support/an-engine.ts';
import { checkAgainst, type OpenApiDocument } from './openapi-check.ts';

export const OPERATOR_TOKEN: string = `op_${'t'.repeat(43)}`;
const schemas = jsonSchemas();

/** A response. `json` is undefined if the body is not JSON. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any;
}

export type Sent = { headers?: Record<string, string>; signal?: AbortSignal };

export interface TestServer {
  readonly url: string;
  readonly port: number;
  readonly app: FastifyInstance;
  readonly engine: Engine;
  readonly store: Store;
  readonly document: OpenApiDocument;
  get(path: string, sent?: Sent): Promise<HttpResponse>;
  post(path: string, body?: unknown, sent?: Sent): Promise<HttpResponse>;
  delete(path: string, sent?: Sent): Promise<HttpResponse>;
  close(): Promise<void>;
}

export interface ServerGiven {
  readonly tools?: readonly ServerTool[];
  readonly limits?: Partial<Limits>;
  readonly http?: Partial<HttpLimits>;
  readonly store?: Store;
  readonly peers?: Peers;
  readonly clock?: Clock;
  readonly guard?: Guard;
  readonly log?: Log;
  readonly allowedHosts?: readonly string[];
  readonly allowedOrigins?: readonly string[];
  readonly routes?: readonly Route[];
  readonly resources?: ResourceSettings;
  readonly nodes?: Nodes;
}

/**
 * The HTTP APIs over a real socket and a memory store; every JSON response is validated against the OpenAPI
 * document.
 */
export async function aServer(given: ServerGiven = {}): Promise<TestServer> {
  const clock = given.clock ?? nodeClock;
  const store = given.store ?? memoryStore({ digest: nodeDigest });
  const log = given.log ?? silentLog;
  const ids = timeOrderedIds(clock);
  const index = new GrantIndex(nodeDigest);
  const policyGuard = new PolicyGuard({ version: 0, document: EMPTY_POLICY }, index, clock);
  const grants = new GrantService({ store, index, clock, ids, digest: nodeDigest });
  const engine = new Engine({
    store,
    peers: given.peers ?? singleNode(store),
    clock,
    ids,
    log,
    digest: nodeDigest,
    schemas,
    limits: resolveLimits(given.limits),
    guard: given.guard ?? policyGuard,
    grants,
    rates: new RateLimits(DEFAULT_RATES, clock),
    hooks: [],
    workspaces: NO_WORKSPACES,
    redactor: new Redactor([]),
    tenants: new TenantDirectory(),
  });
  const keys = new KeyService({ store, clock, ids, digest: nodeDigest, log });
  const tenants = new TenantService({ store, clock, directory: engine.tenants });
  const policies = new PolicyService({ store, guard: policyGuard, clock, initial: {} });
  followAccessChanges(engine.changes, { keys, policies, tenants }, log);
  engine.addPack({ name: 'test', tools: given.tools ?? [] });
  await engine.start();
  const operatorToken = new OperatorTokenGuard({ tokens: [OPERATOR_TOKEN], clock, store, log });
  const { changes } = engine;
  const tokens = store.tokens ?? new MemoryTokens(clock);
  const sessions = new Sessions({ operatorToken, keys, clock, digest: nodeDigest, tokens, store, changes });
  const app = createHttpApp({
    engine,
    store,
    clock,
    log,
    digest: nodeDigest,
    nodes: given.nodes ?? singleNodeList(engine, clock),
    services: {
      keys,
      grants,
      sessions,
      tenants,
      policies,
    },
    tokens,
    authenticator: new CredentialAuthenticator({
      keys,
      jwt: null,
      operatorToken,
      sessions,
      internalKeys: new InternalKeys([], nodeDigest),
      changes,
      mayBeLocal: true,
      log,
    }),
    hostOrigin: { allowedHosts: given.allowedHosts ?? [], allowedOrigins: given.allowedOrigins ?? [] },
    limits: given.http ?? {},
    heap: nodeHeap,
    sandbox: null,
    version: '0.0.0-test',
    routes: given.routes ?? ROUTES,
    ...(given.resources === undefined ? {} : { resources: given.resources }),
  });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  const document = app.swagger() as unknown as OpenApiDocument;
  const request = async (method: string, path: string, body: unknown, sent: Sent): Promise<HttpResponse> => {
    const json = body === undefined ? {} : { 'content-type': 'application/json' };
    const response = await fetch(url + path, {
      method,
      headers: { ...json, ...sent.headers },
      redirect: 'manual',
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(sent.signal === undefined ? {} : { signal: sent.signal }),
    });
    const reply = await readResponse(response);
    checkAgainst(document, { method, path, reply });
    return reply;
  };
  return {
    url,
    port,
    app,
    engine,
    store,
    document,
    get: (path, sent = {}) => request('GET', path, undefined, sent),
    post: (path, body, sent = {}) => request('POST', path, body, sent),
    delete: (path, sent = {}) => request('DELETE', path, undefined, sent),
    close: async () => {
      await app.close();
      await engine.drain();
      await store.close();
    },
  };
}

async function readResponse(response: Response): Promise<HttpResponse> {
  const text = await response.text();
  const isJson = /json/.test(response.headers.get('content-type') ?? '');
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: isJson && text !== '' ? JSON.parse(text) : undefined,
  };
}
