import type { JsonSchema, ToolAnnotations } from '@patchboard/wire';
import type { Call } from '../../src/core/call/call.ts';
import type { CallRequest } from '../../src/core/call/call-request.ts';
import type { OpenApiSettings } from '../../src/sources/openapi/openapi-settings.ts';
import { OperationCaller, type RenewableTokens } from '../../src/sources/openapi/operation-caller.ts';
import type { Operation } from '../../src/sources/openapi/operation.ts';
import { SecretMask } from '../../src/sources/shared/secret-mask.ts';
import { accepted, anEngine, aPrincipal, aRequest, type EngineFixture } from './an-engine.ts';
import { AnUpstream, anUpstreamTool } from './an-upstream.ts';
import { FakeClock, settled } from './fake-clock.ts';

export function openApiSettings(given: Partial<OpenApiSettings> = {}): OpenApiSettings {
  return {
    name: 'shop',
    kind: 'openapi',
    tenants: null,
    onChange: 'ask',
    concurrency: 8,
    timeoutMs: 60_000,
    description: { kind: 'url', url: 'https://api.example/openapi.json' },
    server: null,
    headers: {},
    tools: ['*'],
    security: {},
    ...given,
  };
}

function anOperation(given: Partial<Operation> = {}): Operation {
  return { method: 'GET', path: '/items', parameters: [], body: null, security: [], ...given };
}

/** A request as the server sees it. */
export interface SentRequest {
  readonly url: string;
  readonly init: RequestInit & { readonly headers: Readonly<Record<string, string>> };
}

export interface CallerScene extends EngineFixture {
  readonly sent: SentRequest[];
  /** Submits a call of `shop.op` and returns it as it is when nothing more happens without time. */
  readonly call: (args?: unknown, request?: Partial<CallRequest>) => Promise<Call>;
  readonly find: (id: string) => Promise<Call>;
}

/** An engine whose tool `shop.op` calls one operation. Each request gets the next response, which may throw. */
export async function anOpenApiCaller(given: {
  readonly responses: readonly ((request: SentRequest) => Response | Promise<Response>)[];
  readonly operation?: Partial<Operation>;
  readonly annotations?: ToolAnnotations;
  readonly outputSchema?: JsonSchema;
  readonly settings?: Partial<OpenApiSettings>;
  readonly tokens?: RenewableTokens;
  readonly secrets?: readonly string[];
}): Promise<CallerScene> {
  const sent: SentRequest[] = [];
  const clock = new FakeClock();
  const caller = new OperationCaller({
    settings: openApiSettings(given.settings),
    fetch: async (url, init) => {
      const request = { url, init } as SentRequest;
      sent.push(request);
      const respond = given.responses[sent.length - 1];
      if (respond === undefined) throw new Error(`request ${sent.length} was not expected`);
      return await respond(request);
    },
    tokens: given.tokens ?? { token: () => Promise.reject(new Error('no tokens')), forget: () => {} },
    clock,
    mask: new SecretMask(given.secrets),
  });
  const upstream = new AnUpstream({ name: 'shop', kind: 'openapi' });
  upstream.execution = async (tool, args, context) => await caller.call(tool, args, context);
  const fixture = await anEngine({ clock, upstreams: [upstream] });
  const target = anOperation(given.operation);
  const { annotations = {}, outputSchema = null } = given;
  upstream.lists([anUpstreamTool({ name: 'shop.op', annotations, outputSchema, target })]);
  upstream.becomes('connected');
  const find = async (id: string): Promise<Call> => {
    await settled();
    const call = await fixture.store.findCall(id);
    if (call === undefined) throw new Error(`no call ${id}`);
    return call;
  };
  return {
    ...fixture,
    sent,
    find,
    call: async (args = {}, request = {}) => {
      const submitted = await fixture.engine.submit(
        aRequest({ toolName: 'shop.op', args, ...request }),
        aPrincipal(),
      );
      return await find(accepted(submitted).id);
    },
  };
}

/** The result of a completed call. */
export function resultOf({ state }: Call): unknown {
  if (state.name !== 'COMPLETED') throw new Error(`the call is ${JSON.stringify(state)}`);
  return JSON.parse(state.resultJson) as unknown;
}

export function json(value: unknown, status = 200, headers: Record<string, string> = {}): Response {
  const type = status < 400 ? 'application/json' : 'application/problem+json';
  return new Response(JSON.stringify(value), { status, headers: { 'content-type': type, ...headers } });
}
