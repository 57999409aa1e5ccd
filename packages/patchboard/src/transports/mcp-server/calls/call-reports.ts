import { LOG_LEVEL_META_KEY } from '@modelcontextprotocol/server';
import { BoundedMap } from '../../../core/bounded-map.ts';
import { isOpen } from '../../../core/call/call.ts';
import type { InProcessCaller, LiveCall, ToolCustomEvent } from '../../../core/call/live-call.ts';
import type { Engine } from '../../../core/engine.ts';
import { isRecord } from '@patchboard/wire/json';
import type { Clock } from '../../../core/ports.ts';
import type { Exchange } from '../exchange.ts';
import { isAtLeast, isLogLevel, type LogLevel } from './log-levels.ts';
import { MAX_ID_CHARACTERS } from '../messages/message.ts';
import { ProgressLimiter, type Progress } from './progress.ts';
import { invalidParams } from '../messages/rpc-error.ts';

/** Where the reports of one call go. */
export interface CallReports extends InProcessCaller {
  /** The requests that wait for the call, the newest last: it gets the reports. */
  readonly targets: Set<RequestReports>;
}

/** Sends what a running tool reports to the client whose request waits. */
export interface RequestReports {
  progress(data: unknown): void;
  event(event: ToolCustomEvent): void;
  /** Sends the last report. Nothing is sent after it. */
  end(): void;
}

/** Further events are dropped: a client that reads slowly must not lose its result to them. */
const EVENTS_PER_SECOND = 100;

/** Null if the request wants no reports. Throws if it names an unknown log level. */
export function requestReports(exchange: Exchange): RequestReports | null {
  const { meta, response, context } = exchange;
  const token = meta['progressToken'];
  const lowest = logLevelOf(exchange);
  const hasToken = typeof token === 'string' || typeof token === 'number';
  if (String(hasToken ? token : '').length > MAX_ID_CHARACTERS)
    throw invalidParams(`_meta.progressToken has more than ${MAX_ID_CHARACTERS} characters`);
  if ((!hasToken && lowest === null) || !response.canStream) return null;
  let hasEnded = false;
  const mayLog = perSecond(EVENTS_PER_SECOND, context.clock);
  const notify = (method: string, params: Readonly<Record<string, unknown>>): void => {
    if (!hasEnded && !response.isGone) response.notify(method, params);
  };
  const limiter = new ProgressLimiter(context.clock, (progress: Progress) =>
    notify('notifications/progress', { progressToken: token, ...progress }),
  );
  return {
    progress: (data) => {
      if (hasToken && !hasEnded) limiter.report(data);
    },
    event: ({ eventType, data }) => {
      const level = levelOf(data);
      if (lowest === null || !isAtLeast(level, lowest) || !mayLog()) return;
      notify('notifications/message', { level, logger: eventType, data });
    },
    end: () => {
      limiter.end();
      hasEnded = true;
    },
  };
}

/** Returns a function that returns true at most that often in a second. */
function perSecond(limit: number, clock: Pick<Clock, 'elapsed'>): () => boolean {
  let startedAt = -Infinity;
  let count = 0;
  return () => {
    const now = clock.elapsed();
    if (now - startedAt >= 1000) [startedAt, count] = [now, 0];
    count += 1;
    return count <= limit;
  };
}

/** The lowest level of events that the client wants; null: it wants none. */
function logLevelOf({ meta, era, session }: Exchange): LogLevel | null {
  if (era === 'legacy') return session?.logLevel ?? null;
  const level = meta[LOG_LEVEL_META_KEY];
  if (level === undefined) return null;
  if (isLogLevel(level)) return level;
  throw invalidParams(`_meta["${LOG_LEVEL_META_KEY}"] is no log level`);
}

/** An event may name its level. */
function levelOf(data: unknown): LogLevel {
  const level = isRecord(data) ? data['level'] : undefined;
  return isLogLevel(level) ? level : 'info';
}

export function callReports(target: RequestReports): CallReports {
  const targets = new Set([target]);
  const newest = (): RequestReports | undefined => [...targets].at(-1);
  return {
    hooks: [],
    agent: undefined,
    targets,
    onProgress: (data) => newest()?.progress(data),
    onCustomEvent: (event) => newest()?.event(event),
  };
}

const CALLS_KEPT = 10_000;
const KEPT: WeakMap<Engine, BoundedMap<string, CallReports>> = new WeakMap();

/**
 * Called after the request that made the call: a later one may continue it while it is open. What is kept must not refer
 * to a request that has ended, whose memory it would hold.
 */
export function keepReports(exchange: Exchange, { call }: LiveCall, reports: CallReports): void {
  if (isOpen(call)) keptReports(exchange).set(call.id, reports);
}

/** The reports of calls that a later request continues. A restart loses them. */
export function keptReports({ context: { engine } }: Exchange): BoundedMap<string, CallReports> {
  const kept = KEPT.get(engine) ?? new BoundedMap(CALLS_KEPT);
  KEPT.set(engine, kept);
  return kept;
}
