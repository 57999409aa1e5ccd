import type { ServerResponse } from 'node:http';
import type { FailureCode, SandboxName } from '@patchboard/wire';
import type { Engine } from '../../../core/engine.ts';
import type { LedgerVerifier } from '../../../core/ledger/ledger-check.ts';
import type { Authenticator } from '../../../core/access/authenticator.ts';
import type { TokenStore } from '../../../core/access/token-store.ts';
import type { AdminServices } from '../../../core/access/admin-services.ts';
import type { Nodes } from '../../../core/nodes.ts';
import type { Clock, Digest, Heap, Log, Store } from '../../../core/ports.ts';
import type { Principal } from '../../../core/access/principal.ts';
import type { UpstreamReloader } from '../../../core/upstreams/upstream.ts';
import type { Connections } from './connections.ts';
import type { HostOriginOptions } from './host-origin-guard.ts';
import type { EventLoopTurns } from './event-loop-turns.ts';
import type { ArrivingBodies } from './arriving-bodies.ts';
import type { HeldBodies } from './held-bodies.ts';
import type { HttpLimits } from './http-limits.ts';
import type { HttpMetrics, RouteCounter } from './metrics.ts';
import type { EventStreamCaps } from '../streams/event-stream-caps.ts';
import type { OpenStreams } from '../streams/open-streams.ts';
import type { Prompts } from '../views/prompts.ts';
import type { Challenge, ResourceSettings } from '../routes/challenge.ts';
import type { RefusalFormat } from '../routes/problem.ts';
import type { Route } from '../routes/routes.ts';
import type { Streams } from '../streams/streams.ts';
import type { Tickets } from './tickets.ts';
import type { ToolLists } from '../views/tool-lists.ts';
import type { Upgrades } from './upgrades.ts';

/** Dependencies and settings of the HTTP server. */
export interface HttpParts {
  readonly engine: Engine;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly heap: Heap;
  readonly digest: Digest;
  readonly services: AdminServices;
  readonly tokens: TokenStore;
  readonly nodes: Nodes;
  readonly authenticator: Authenticator;
  readonly hostOrigin: HostOriginOptions;
  readonly limits?: Partial<HttpLimits>;
  /** Trust the `X-Forwarded-*` headers of one proxy. Default: false. */
  readonly trustProxy?: boolean;
  /** Default: no issuer and no prefix. */
  readonly resources?: ResourceSettings;
  readonly version: string;
  /** Null if no tool of this server uses a sandbox. */
  readonly sandbox: SandboxView | null;
  /** Absent: the upstreams are fixed by the embedding program. */
  readonly upstreamReloader?: UpstreamReloader | undefined;
  /** Whether other nodes should get the requests instead of this one. Absent: there are no others. */
  readonly isLeaving?: (() => boolean) | undefined;
  /** Epoch milliseconds; default: now. */
  readonly startedAt?: number;
  /** The routes of every API that is served: `[...agentRoutes, ...internalRoutes, …]`. */
  readonly routes: readonly Route[];
}

/** The sandbox for commands, as `/healthz` reports it. */
export interface SandboxView {
  readonly provider: SandboxName;
  /** Result of each escape attempt made at the start. */
  readonly canary: Readonly<Record<string, string>>;
  /** True if commands and writes are refused. */
  readonly off: boolean;
  /** A warning to operators if commands run without a sandbox; otherwise null. */
  readonly notice: string | null;
}

/** Dependencies of route handlers. */
export interface HttpContext extends Pick<
  HttpParts,
  | 'engine'
  | 'store'
  | 'clock'
  | 'log'
  | 'digest'
  | 'services'
  | 'tokens'
  | 'nodes'
  | 'authenticator'
  | 'version'
  | 'sandbox'
  | 'upstreamReloader'
  | 'isLeaving'
> {
  readonly limits: Readonly<HttpLimits>;
  readonly resources: ResourceSettings;
  readonly startedAt: number;
  readonly openStreams: OpenStreams;
  readonly bodies: HeldBodies;
  readonly arrivingBodies: ArrivingBodies;
  readonly streams: Streams;
  readonly eventStreams: EventStreamCaps;
  readonly tickets: Tickets;
  readonly upgrades: Upgrades;
  readonly connections: Connections;
  readonly ledgerVerifier: LedgerVerifier;
  readonly metrics: HttpMetrics;
  readonly toolLists: ToolLists;
  readonly prompts: Prompts;
  /** Schedules long work fairly between requests. */
  readonly turns: EventLoopTurns;
  /** The OpenAPI document as JSON text. */
  readonly openapi: () => string;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    refuse?: RefusalFormat;
    challenge?: Challenge;
  }
  interface FastifyRequest {
    principal: Principal | null;
    counter: RouteCounter | null;
    /** The failure code of the problem response, if one was sent. */
    refusal: FailureCode | null;
    /** Set once the request has reached its route. */
    response: ServerResponse | null;
    /** Estimated heap bytes of the body. */
    heldBytes: number;
  }
}
