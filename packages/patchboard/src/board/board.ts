import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AgentHost } from '../agent/agent-host.ts';
import {
  checkBoardOptions,
  checkCallOptions,
  checkDecideOptions,
  checkInvokeOptions,
} from './options-shape.ts';
import { Retention } from './retention.ts';
import { memory } from './stores.ts';
import { boardSandboxSetup } from './board-sandbox-setup.ts';
import type { OperatorDecision } from '../core/steps/approvals.ts';
import { isOpen, type Call } from '../core/call/call.ts';
import { noSuchCall, type FollowOptions } from '../core/steps/calls.ts';
import type { LiveCall } from '../core/call/live-call.ts';
import { failure } from '../core/failures.ts';
import type { AgentHooks } from '../sdk/agent-hooks.ts';
import type { Submitted } from '../core/call/call-request.ts';
import { jsonCopy } from '../core/json/json-copy.ts';
import { resolveLimits } from '../core/limits.ts';
import { OPERATOR_NAME, type Principal } from '../core/access/principal.ts';
import { DEFAULT_RATES } from '../core/access/rate-limits.ts';
import type { RegisteredTool } from '../core/tools/registered-tool.ts';
import { NO_WORKSPACES } from '../core/workspaces.ts';
import { TenantDirectory } from '../core/access/tenant-directory.ts';
import { embeddedPrincipal, openEngineContext, type EngineContext } from '../wiring/engine-context.ts';
import { openApis, type ListeningApis } from '../wiring/apis.ts';
import { newOperatorToken } from '../identity/operator-token.ts';
import { operatorTokenIn } from '../wiring/operator-token-in.ts';
import { mountApis, type HttpOptions, type MountedApis } from '../wiring/mounted-apis.ts';
import type {
  BoardKeyOptions,
  BoardOptions,
  CallOptions,
  InvokeOptions,
  Patchboard,
  ToolFilter,
} from './board-types.ts';
import { SILENT_LOG } from '../runtime/silent-log.ts';
import { BoardError } from '../sdk/board-error.ts';
import type { DecideOptions } from '../sdk/decide-options.ts';
import { toRecord, type ToolCallRecord } from '../sdk/tool-call-record.ts';
import type { AnyTool } from '../sdk/tool-instance.ts';
import { ToolRegistry, type RegistryFollower } from '../sdk/tool-registry.ts';
import type { SandboxSetup } from '../wiring/sandbox-setup.ts';

export async function createPatchboard(options: BoardOptions = {}): Promise<Patchboard> {
  checkBoardOptions(options);
  const {
    tools = [],
    store: kept = memory(),
    policy = {},
    hooks = [],
    redact = [],
    log = SILENT_LOG,
    retain,
  } = options;
  const limits = resolveLimits(options.limits);
  const store = await kept.open({ retain, log });
  const sandboxSetup = await boardSandboxSetup(options.workspace, { folder: kept.folder, store, log });
  try {
    const allHooks = Array.isArray(hooks) ? (hooks as readonly AgentHooks[]) : [hooks as AgentHooks];
    const context = await openEngineContext({
      store,
      log,
      limits,
      policy,
      rates: DEFAULT_RATES,
      redact,
      hooks: allHooks,
      workspaces: sandboxSetup?.workspaces ?? NO_WORKSPACES,
      sandbox: sandboxSetup?.report ?? null,
      tenants: new TenantDirectory(),
    });
    if (sandboxSetup !== null) context.engine.addPack(sandboxSetup.pack);
    const registry = registryOf(tools);
    const retention = kept.folder === null || retain === undefined ? null : new Retention(retain, context);
    const network = { folder: kept.folder, http: options.http ?? {}, sandboxSetup, retention };
    const board = new Board(context, network, registry, registry.follow(followerOf(context)));
    try {
      await context.engine.start();
    } catch (error) {
      board.unfollow();
      throw error;
    }
    retention?.begin();
    return board;
  } catch (error) {
    await sandboxSetup?.close();
    await store.close();
    throw error;
  }
}

function registryOf(tools: readonly AnyTool[] | ToolRegistry): ToolRegistry {
  if (tools instanceof ToolRegistry) return tools;
  const registry = new ToolRegistry();
  for (const one of tools) registry.register(one);
  return registry;
}

function followerOf({ engine, host: { log } }: EngineContext): RegistryFollower {
  return {
    problemWith: (given) => {
      const admitted = engine.serverTools.check(given);
      return admitted.ok ? null : failure(admitted.code, admitted.reason);
    },
    begin: (given) => void engine.serverTools.addInitial(given),
    added: (given) => void engine.serverTools.add(given),
    removed: (names) => void engine.serverTools.remove(names),
    warned: ({ module, method, parameter, type, message }) =>
      log.warn('registry.type_unknown', { module, method, parameter, type, message }),
  };
}

interface BoardNetwork {
  readonly folder: string | null;
  readonly http: HttpOptions;
  readonly sandboxSetup: SandboxSetup | null;
  /** Null: the store bounds itself or keeps every call. */
  readonly retention: Retention | null;
}

const NO_OPTIONS: CallOptions = {};

/** The default agent id. */
const EMBEDDED = 'embedded';

class Board implements Patchboard {
  readonly registry: ToolRegistry;
  readonly unfollow: () => void;
  readonly #context: EngineContext;
  readonly #network: BoardNetwork;
  readonly #runId = `run_${randomBytes(8).toString('hex')}`;
  /** Set as soon as `listen` is called, so that a second call fails and `close` can wait for it. */
  #listening: Promise<ListeningApis> | null = null;
  #mounted: MountedApis | null = null;
  #operatorToken: Promise<string> | null = null;
  #closing: Promise<void> | null = null;

  constructor(context: EngineContext, network: BoardNetwork, registry: ToolRegistry, unfollow: () => void) {
    this.#context = context;
    this.#network = network;
    this.registry = registry;
    this.unfollow = unfollow;
  }

  get host(): AgentHost {
    return this.#context.host;
  }

  tools({ tag, agentId = EMBEDDED }: ToolFilter = {}): readonly RegisteredTool[] {
    const all = this.#context.engine.tools(embeddedPrincipal(agentId));
    return tag === undefined ? all : all.filter(({ metadata }) => tagsIn(metadata).includes(tag));
  }

  async call(name: string, args: unknown = {}, options: CallOptions = NO_OPTIONS): Promise<ToolCallRecord> {
    if (options !== NO_OPTIONS) checkCallOptions(options);
    const { signal } = options;
    signal?.throwIfAborted();
    const { call, live } = await this.#submit(name, args, options);
    return isOpen(call) ? await this.#ended(call.id, { cancelOn: signal, live }) : toRecord(call);
  }

  async invoke(
    name: string,
    args: unknown = {},
    options: InvokeOptions = NO_OPTIONS,
  ): Promise<ToolCallRecord> {
    if (options !== NO_OPTIONS) checkInvokeOptions(options);
    const { call } = await this.#submit(name, args, options);
    return toRecord(call);
  }

  async #submit(name: string, args: unknown, options: InvokeOptions): Promise<Recorded> {
    const { agentId = EMBEDDED, runId = this.#runOf(agentId), idempotencyKey = null } = options;
    // Validate what will be stored: JSON turns a Date, for example, into a string.
    const storedArgs = jsonCopy(args);
    if (storedArgs === undefined)
      throw new BoardError(failure('input_invalid', 'the arguments cannot be written as JSON'));
    const request = {
      toolName: name,
      runId,
      args: storedArgs,
      idempotencyKey,
    };
    return recordedCall(await this.#context.engine.submit(request, embeddedPrincipal(agentId)));
  }

  async get(id: string): Promise<ToolCallRecord | undefined> {
    const call = await this.#context.engine.calls.find(embeddedPrincipal(EMBEDDED), id);
    return call === undefined ? undefined : toRecord(call);
  }

  async wait(id: string): Promise<ToolCallRecord> {
    return await this.#ended(id);
  }

  async cancel(id: string): Promise<ToolCallRecord> {
    const cancelled = await this.#context.engine.calls.cancel(embeddedPrincipal(EMBEDDED), id);
    if (!cancelled.ok) throw new BoardError(cancelled.failure);
    return toRecord(cancelled.value);
  }

  async decide(id: string, decision: 'allow' | 'deny', options: DecideOptions = {}): Promise<ToolCallRecord> {
    checkDecideOptions(options);
    const { note, decidedBy = OPERATOR_NAME } = options;
    const call = await this.#context.engine.calls.find(embeddedPrincipal(EMBEDDED), id);
    const given: OperatorDecision = { decision, digest: call?.approval?.digest ?? '', note: note ?? null };
    const decided = await this.#context.engine.calls.decide(embeddedPrincipal(decidedBy), id, given);
    if (!decided.ok) throw new BoardError(decided.failure);
    return toRecord(decided.value);
  }

  async listen({
    port = 8080,
    host = '127.0.0.1',
  }: { port?: number; host?: string } = {}): Promise<ListeningApis> {
    if (this.#closing !== null) throw new BoardError(failure('conflict', 'the board was closed'));
    if (this.#listening !== null)
      throw new BoardError(
        failure('conflict', 'already listening: close the server that listen() returned first'),
      );
    const opening = this.#openApis(host, port);
    const forget = (): void => {
      if (this.#listening === opening) this.#listening = null;
    };
    this.#listening = opening;
    try {
      const apis = await opening;
      return { ...apis, close: () => apis.close().finally(forget) };
    } catch (error) {
      forget();
      throw error;
    }
  }

  async #openApis(host: string, port: number): Promise<ListeningApis> {
    const { allowedHosts = [], allowedOrigins = [], trustProxy = false, jwt = null } = this.#network.http;
    const operatorToken = await this.#ownToken();
    const settings = { allowedHosts, allowedOrigins, trustProxy, jwt, isProduction: false, operatorToken };
    return await openApis(this.#context, { ...settings, internalKeys: [], host, port });
  }

  async createKey(options: BoardKeyOptions): Promise<{ id: string; secret: string }> {
    const { kind, name, scopes = null, expiresAt = null } = options;
    const maker: Principal = { ...embeddedPrincipal(EMBEDDED), kind: 'operator' };
    const minted = await this.#context.keys.mint(maker, {
      tenant: maker.tenant,
      kind,
      name,
      scopes,
      expiresAt,
    });
    if ('code' in minted) throw new BoardError(minted);
    return { id: minted.key.id, secret: minted.secret };
  }

  readonly handler = (request: IncomingMessage, response: ServerResponse): void =>
    this.#mount().handler(request, response);

  readonly fetch = async (request: Request): Promise<Response> => await this.#mount().fetch(request);

  async close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    await this.#closing;
  }

  async #shutDown(): Promise<void> {
    this.unfollow();
    const apis = await this.#listening?.catch(() => null);
    await apis?.close();
    await this.#mounted?.close();
    await this.#context.host.activeWork.close();
    await this.#context.engine.drain();
    await this.#network.sandboxSetup?.close();
    await this.#network.retention?.end();
    await this.#context.store.close();
  }

  /** A run belongs to one agent. The id is derived from the agent's name, so that no map of runs is needed. */
  #runOf(agentId: string): string {
    if (agentId === EMBEDDED) return this.#runId;
    return `run_${createHash('sha256').update(`${this.#runId} ${agentId}`).digest('hex').slice(0, 16)}`;
  }

  #mount(): MountedApis {
    // A mounted board has a random operator token that is never shown: its operators use keys.
    this.#mounted ??= mountApis(this.#context, this.#network.http, newOperatorToken());
    return this.#mounted;
  }

  async #ownToken(): Promise<string> {
    const { folder } = this.#network;
    this.#operatorToken ??=
      folder === null ? Promise.resolve(newOperatorToken()) : operatorTokenIn(folder, this.#context.log);
    return await this.#operatorToken;
  }

  async #ended(id: string, options?: FollowOptions): Promise<ToolCallRecord> {
    const call = await this.#context.engine.calls.follow(embeddedPrincipal(EMBEDDED), id, options);
    if (call === undefined) throw new BoardError(noSuchCall(id));
    return toRecord(call);
  }
}

function tagsIn(metadata: RegisteredTool['metadata']): readonly unknown[] {
  const tags = metadata?.['tags'];
  return Array.isArray(tags) ? tags : [];
}

interface Recorded {
  readonly call: Call;
  readonly live: LiveCall | null;
}

/** Returns the call, which is also recorded if it was denied. Throws if it was refused without a record. */
function recordedCall(submitted: Submitted): Recorded {
  if (submitted.kind === 'refused') throw new BoardError(submitted.failure);
  return submitted.kind === 'accepted' ? submitted : { call: submitted.call, live: null };
}
