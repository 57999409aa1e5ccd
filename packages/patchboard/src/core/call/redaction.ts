import type { Call } from './call.ts';
/** What stands in place of a value that must not be kept. */
export const REDACTED = '[redacted]';

/** Replaces the members of those names, at any depth, whatever their value. Case does not matter. */
export class Redactor {
  readonly #names: ReadonlySet<string>;

  constructor(names: readonly string[]) {
    this.#names = new Set(names.map((name) => name.toLowerCase()));
  }

  get isIdle(): boolean {
    return this.#names.size === 0;
  }

  /** The same text when there is nothing to hide. */
  json(text: string): string {
    if (this.isIdle) return text;
    const value = JSON.parse(text) as unknown;
    const redacted = this.value(value);
    return redacted === value ? text : JSON.stringify(redacted);
  }

  /** The same value when there is nothing to hide; never changes what it is given. */
  value(given: unknown): unknown {
    if (this.isIdle || typeof given !== 'object' || given === null) return given;
    if (Array.isArray(given)) {
      const items = given.map((item) => this.value(item));
      return items.some((item, index) => item !== given[index]) ? items : given;
    }
    let copy: Record<string, unknown> | null = null;
    for (const [key, member] of Object.entries(given)) {
      const kept = this.#names.has(key.toLowerCase()) && member !== REDACTED ? REDACTED : this.value(member);
      if (kept === member) continue;
      copy ??= { ...(given as Record<string, unknown>) };
      copy[key] = kept;
    }
    return copy ?? given;
  }
}

/** Once a call has ended, no part of the server needs the secrets in its arguments any more. */
export function redactEnded(redactor: Redactor, call: Call): Call {
  const argsJson = redactor.json(call.argsJson);
  const argsRedacted = call.argsRedacted || argsJson !== call.argsJson;
  const original = call.approval?.originalArgsJson ?? null;
  if (call.approval === null || original === null)
    return argsRedacted ? { ...call, argsJson, argsRedacted } : call;
  const approval = { ...call.approval, originalArgsJson: redactor.json(original) };
  return { ...call, argsJson, argsRedacted, approval };
}
