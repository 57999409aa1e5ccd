/**
 * Where a call comes from. Tools may read it; no permission depends on it. An API adds members by declaration merging.
 */
export interface CallOrigin {
  /** The tenant's site; every call of the tenant API has one. */
  readonly siteId?: string;
  readonly userId?: string;
  readonly sessionId?: string;
  /** The trace id of the body, if it differs from the one of the header. */
  readonly contextTraceId?: string;
  /** W3C trace context beside the caller's own trace id. */
  readonly traceparent?: string;
  /** How many gateways have passed the call on. Absent: it comes from its first caller. */
  readonly hops?: number;
}

/**
 * The origin's fields in ledger rows and log lines: all but the trace context and the hops, in snake case. The texts of a member with
 * members of its own are joined by slashes.
 */
export function originFields(origin: CallOrigin | null): OriginFields {
  if (origin === null) return {};
  const known = FIELDS.get(origin) ?? fieldsOf(origin);
  FIELDS.set(origin, known);
  return known;
}

type OriginFields = Readonly<Record<string, string | undefined>>;

/** Every ledger row of a call has the same fields. */
const FIELDS: WeakMap<CallOrigin, OriginFields> = new WeakMap();

function fieldsOf(origin: CallOrigin): OriginFields {
  const { traceparent: _traceparent, hops: _hops, ...members } = origin;
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [snakeCase(name), flat(value)]));
}

function flat(value: string | Readonly<Record<string, string>>): string {
  if (typeof value === 'string') return value;
  return Object.values(value).filter(Boolean).join('/');
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
