import { TRACEPARENT_META_KEY } from '@modelcontextprotocol/server';
import { PEER_ID_PATTERN } from '@patchboard/wire';
import type { CallRequest } from '../../../core/call/call-request.ts';
import { parseTraceparent } from '../../../core/call/trace-context.ts';
import { traceOf } from '../../shared/routes/request-hints.ts';
import type { Exchange } from '../exchange.ts';
import { responsesInRequest } from './input-responses.ts';
import { kindsOf } from './input-requests.ts';
import { META } from '../../../protocols/mcp/revisions.ts';
import { invalidParams } from '../messages/rpc-error.ts';

/** The parameters of `tools/call`. */
interface CallParams {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** Reads what `findMethod` has checked against the schema of `tools/call`. */
export function callParams({ params }: Exchange): CallParams {
  const { name, arguments: args = {} } = params;
  return { name, args } as CallParams;
}

/** Converts `tools/call` to a request of the engine. */
export function callRequest(exchange: Exchange): CallRequest {
  const { meta, client, era, response } = exchange;
  const { name, args } = callParams(exchange);
  const idempotencyKey = idIn(meta, META.idempotencyKey);
  const target = idIn(meta, META.target);
  const trace = traceIn(exchange);
  const run = idIn(meta, META.runId);
  const inputs = era === 'modern' ? responsesInRequest(exchange) : undefined;
  return {
    toolName: name,
    args,
    target,
    idempotencyKey,
    ...trace,
    ...(run === null
      ? { runId: generatedRun(exchange, idempotencyKey, trace.traceId), countsInRun: false as const }
      : { runId: run }),
    // Older protocol versions send input requests on a stream.
    acceptsInput: era === 'modern' || response.canStream ? kindsOf(client) : [],
    ...(inputs === undefined ? {} : { inputs }),
    ...originOf(exchange),
  };
}

/**
 * The run of a client that names none. With an idempotency key it must be the same in every session and trace, because the
 * key's comparison of requests covers the run.
 */
function generatedRun({ principal, session }: Exchange, key: string | null, traceId: string | null): string {
  const { agentId } = principal;
  if (key === null && session !== null) return `mcp:${session.id}`;
  const run = key === null && traceId !== null ? `trace:${traceId}:${agentId}` : `mcp:${agentId}`;
  // Longer than an id may be: names of agents may have as many characters as ids.
  return PEER_ID_PATTERN.test(run) ? run : agentId;
}

function originOf({ client: { info }, meta }: Exchange): Pick<CallRequest, 'origin'> {
  const hops = hopsIn(meta);
  if (info === null && hops === null) return {};
  return {
    origin: { ...(info === null ? {} : { mcpClient: info }), ...(hops === null ? {} : { hops }) },
  };
}

function hopsIn(meta: Exchange['meta']): number | null {
  const hops = meta[META.hops];
  if (hops === undefined) return null;
  if (typeof hops === 'number' && Number.isSafeInteger(hops) && hops >= 0) return hops;
  throw invalidParams(`_meta["${META.hops}"] must be a whole number from 0`);
}

function traceIn({ meta, headers }: Exchange): {
  readonly traceId: string | null;
  readonly spanId: string | null;
} {
  const given = meta[TRACEPARENT_META_KEY];
  const context = typeof given === 'string' ? parseTraceparent(given) : null;
  return context ?? traceOf(headers);
}

function idIn(meta: Exchange['meta'], name: string): string | null {
  const value = meta[name];
  if (value === undefined || value === null) return null;
  if (typeof value === 'string' && PEER_ID_PATTERN.test(value)) return value;
  throw invalidParams(`_meta["${name}"] must be 1 to 200 visible ASCII characters`);
}
