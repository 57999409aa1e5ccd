import { REDACTED } from '../../core/call/redaction.ts';
import type { Log } from '../../core/ports.ts';
import { formsOf } from './secret-forms.ts';

/** A value that is nested deeper is replaced as a whole. Results have at most 64 levels. */
const DEEPEST = 500;

/**
 * Replaces secret values wherever they appear in text and JSON values, also in their encoded forms (`formsOf`). One instance serves
 * all upstreams: what one of them knows must not appear in the output of another one either.
 *
 * Values with fewer than 8 characters are not masked. The marker is `[redacted]`, unless it could form a secret value together with
 * the text beside it; then it is one character that no secret value has.
 */
export class SecretMask {
  /** The forms of each value, and how often it was added. */
  readonly #values = new Map<string, { readonly forms: readonly string[]; count: number }>();
  #marker: string = REDACTED;
  /** The longest first. */
  #forms: readonly string[] = [];
  /** Matches the forms. Null: there is nothing to mask. */
  #pattern: RegExp | null = null;

  constructor(values: Iterable<string> = []) {
    this.add(values);
  }

  /** Masks these values too from now on. */
  add(values: Iterable<string>): void {
    for (const value of values) {
      const known = this.#values.get(value);
      if (known === undefined) this.#values.set(value, { forms: formsOf(value), count: 1 });
      else known.count += 1;
    }
    this.#compile();
  }

  /** Forgets values, such as expired access tokens. One that was added several times is masked until its last removal. */
  remove(values: Iterable<string>): void {
    for (const value of values) {
      const known = this.#values.get(value);
      if (known === undefined) continue;
      known.count -= 1;
      if (known.count === 0) this.#values.delete(value);
    }
    this.#compile();
  }

  /** Returns the text without secret values. */
  text(text: string): string {
    const pattern = this.#pattern;
    if (pattern === null) return text;
    const kept: string[] = [];
    let end = 0;
    pattern.lastIndex = 0;
    for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
      // Matches that overlap are masked together, or the rest of the later one would remain.
      if (kept.length === 0 || match.index >= end) kept.push(text.slice(end, match.index));
      end = Math.max(end, match.index + match[0].length);
      pattern.lastIndex = match.index + 1;
    }
    return kept.length === 0 ? text : [...kept, text.slice(end)].join(this.#marker);
  }

  /** As `text`, for a text that was cut: also without the beginning of a secret value at its end. */
  cut(text: string): string {
    // A character of several bytes may have been cut, too.
    const masked = this.text(text.replace(/\uFFFD+$/, ''));
    const begun = Math.max(0, ...this.#forms.map((form) => begunAtEnd(masked, form)));
    return masked.slice(0, masked.length - begun);
  }

  /** Masks the strings, numbers and keys of a JSON value. Returns the same reference if it contains no secret value. */
  value(value: unknown): unknown {
    return this.#pattern === null ? value : this.#masked(value, 0);
  }

  /** Returns a log that masks its events and fields and passes them on. */
  log(log: Log): Log {
    const fieldsOf = (fields?: Readonly<Record<string, unknown>>) =>
      this.value(fields) as Readonly<Record<string, unknown>> | undefined;
    return {
      info: (event, fields) => log.info(this.text(event), fieldsOf(fields)),
      warn: (event, fields) => log.warn(this.text(event), fieldsOf(fields)),
      error: (event, fields) => log.error(this.text(event), fieldsOf(fields)),
    };
  }

  #compile(): void {
    const forms = [...this.#values.values()].flatMap((value) => value.forms);
    const ordered = [...new Set(forms)].toSorted((a, b) => b.length - a.length);
    this.#forms = ordered;
    this.#marker = markerFor(ordered);
    this.#pattern = ordered.length === 0 ? null : new RegExp(ordered.map(escaped).join('|'), 'g');
  }

  #masked(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return this.text(value);
    if (typeof value === 'number') return this.text(String(value)) === String(value) ? value : this.#marker;
    if (typeof value !== 'object' || value === null) return value;
    if (depth === DEEPEST) return this.#marker;
    if (Array.isArray(value)) {
      const items = value.map((item) => this.#masked(item, depth + 1));
      return items.some((item, index) => !Object.is(item, value[index])) ? items : value;
    }
    let isChanged = false;
    const members = Object.entries(value).map(([key, member]): [string, unknown] => {
      const masked: [string, unknown] = [this.text(key), this.#masked(member, depth + 1)];
      isChanged ||= masked[0] !== key || !Object.is(masked[1], member);
      return masked;
    });
    return isChanged ? Object.fromEntries(members) : value;
  }
}

/** Returns how many characters at the end of the text are the beginning of the form. */
function begunAtEnd(text: string, form: string): number {
  for (let length = Math.min(form.length - 1, text.length); length > 0; length -= 1)
    if (text.endsWith(form.slice(0, length))) return length;
  return 0;
}

/** Returns the text as a regular expression that matches it. */
function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

/** Returns a marker that cannot be a part of an occurrence of a form: then the output contains none. */
function markerFor(forms: readonly string[]): string {
  if (!forms.some((form) => overlaps(form, REDACTED))) return REDACTED;
  for (let code = '█'.charCodeAt(0); ; code += 1) {
    const marker = String.fromCharCode(code);
    if (!forms.some((form) => form.includes(marker))) return marker;
  }
}

/** Whether a text exists in which both occur and share a character. */
function overlaps(form: string, marker: string): boolean {
  if (form.includes(marker) || marker.includes(form)) return true;
  for (let length = 1; length < Math.min(form.length, marker.length); length += 1)
    if (form.endsWith(marker.slice(0, length)) || form.startsWith(marker.slice(-length))) return true;
  return false;
}
