import type { Call } from './call.ts';
/** Replaces a value that must not be stored. */
export const REDACTED = '[redacted]';

/** Replaces the values of all members with one of the given names, at any depth. Names are compared without case. */
export class Redactor {
  readonly #names: ReadonlySet<string>;

  constructor(names: readonly string[]) {
    this.#names = new Set(names.map((name) => name.toLowerCase()));
  }

  get isIdle(): boolean {
    return this.#names.size === 0;
  }

  /** Returns the same text if nothing is redacted. */
  json(text: string): string {
    if (this.isIdle) return text;
    const value = JSON.parse(text) as unknown;
    const redacted = this.value(value);
    return redacted === value ? text : JSON.stringify(redacted);
  }

  /** Returns the same value if nothing is redacted, else a copy. */
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

/** Redacts the arguments of an ended call, and what its caller gave as input. */
export function redactEnded(redactor: Redactor, given: Call): Call {
  const ended = given.offered === undefined ? given : withoutOffered(given);
  const call = ended.inputs.length === 0 ? ended : { ...ended, inputs: redactedInputs(redactor, ended) };
  const argsJson = redactor.json(call.argsJson);
  const argsRedacted = call.argsRedacted || argsJson !== call.argsJson;
  const original = call.approval?.originalArgsJson ?? null;
  if (call.approval === null || original === null)
    return argsRedacted ? { ...call, argsJson, argsRedacted } : call;
  const approval = { ...call.approval, originalArgsJson: redactor.json(original) };
  return { ...call, argsJson, argsRedacted, approval };
}

/** The tool does not run again: the responses that it did not use are not needed any more. */
function withoutOffered({ offered: _offered, ...call }: Call): Call {
  return call;
}

function redactedInputs(redactor: Redactor, { inputs }: Call): Call['inputs'] {
  return inputs.map((round) => {
    // The tool does not run again: what it kept is not needed any more.
    const { carryJson: _carry, ...kept } = round;
    const { key, response } = kept;
    if (response === null || response.contentJson === null) return kept;
    // The key of the request is the name of the content, whatever the content is.
    const named = redactor.value({ [key]: JSON.parse(response.contentJson) as unknown }) as Record<
      string,
      unknown
    >;
    return { ...kept, response: { ...response, contentJson: JSON.stringify(named[key]) } };
  });
}
