import { PEER_ID_PATTERN } from '@patchboard/wire';
import { nearestName } from '../core/spelling.ts';

/** Returns a sentence about what is wrong with the value, beginning with its place, or null if it is valid. */
export type Rule = (value: unknown, place: string) => string | null;

/** One rule for each member. Other members are errors. */
export type Shape<T> = Readonly<Record<keyof T & string, Rule>>;

export const anything: Rule = () => null;
export const text: Rule = must('be a text', (value) => typeof value === 'string');
export const callable: Rule = must('be a function', (value) => typeof value === 'function');
export const flag: Rule = must('be true or false', (value) => typeof value === 'boolean');

export function wholeNumber(least: number): Rule {
  return must(
    `be a whole number of at least ${least}`,
    (value) => Number.isSafeInteger(value) && Number(value) >= least,
  );
}

/** Ids of agents, runs and operators. */
export const peerId: Rule = must(
  'be 1 to 200 visible ASCII characters without spaces',
  (value) => typeof value === 'string' && PEER_ID_PATTERN.test(value),
);

export const texts: Rule = (value, place) => {
  if (typeof value === 'string') return `${place} must be a list: write ['${value}']`;
  if (!Array.isArray(value)) return `${place} must be a list of texts; it is ${shown(value)}`;
  const wrong = value.findIndex((item) => typeof item !== 'string');
  return wrong === -1 ? null : text(value[wrong], `${place}[${wrong}]`);
};

export function oneOf(allowed: readonly string[]): Rule {
  return (value, place) =>
    allowed.includes(value as string) ? null : `${place} is ${shown(value)}; ${suggestion(value, allowed)}`;
}

export function someOf(allowed: readonly string[]): Rule {
  const one = oneOf(allowed);
  return (value, place) => {
    const problem = texts(value, place);
    if (problem !== null) return problem;
    return firstOf((value as string[]).map((item, index) => one(item, `${place}[${index}]`)));
  };
}

/** A single value or a list of values. */
export function oneOrMore(rule: Rule): Rule {
  return (value, place) =>
    Array.isArray(value)
      ? firstOf(value.map((item, index) => rule(item, `${place}[${index}]`)))
      : rule(value, place);
}

/** An object with these members and no others. An undefined member counts as absent. */
export function object<T>(shape: Shape<T>): Rule {
  const known = Object.keys(shape);
  return (value, place) => {
    if (!isObject(value) || Array.isArray(value))
      return `${place || 'this'} must be an object; it is ${shown(value)}`;
    const at = (key: string): string => (place === '' ? key : `${place}.${key}`);
    return firstOf(
      Object.keys(value).map((key) => {
        const member: unknown = Reflect.get(value, key);
        if (!Object.hasOwn(shape, key)) return `${at(key)} is not known; ${suggestion(key, known)}`;
        return member === undefined ? null : shape[key as keyof T & string](member, at(key));
      }),
    );
  };
}

export function must(what: string, holds: (value: unknown) => boolean): Rule {
  return (value, place) => (holds(value) ? null : `${place} must ${what}; it is ${shown(value)}`);
}

/** Suggests the nearest known name, or lists all. */
function suggestion(given: unknown, known: readonly string[]): string {
  if (typeof given !== 'string') return `it must be one of ${known.join(', ')}`;
  const meant = nearestName(given, known);
  return meant === null ? `known are ${known.join(', ')}` : `did you mean ${meant}?`;
}

const SHOWN_CHARACTERS = 40;

/** Formats a value for an error message. */
export function shown(value: unknown): string {
  if (typeof value === 'string')
    return value.length > SHOWN_CHARACTERS ? `'${value.slice(0, SHOWN_CHARACTERS)}…'` : `'${value}'`;
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  if (typeof value === 'function') return 'a function';
  return String(value);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function firstOf(problems: readonly (string | null)[]): string | null {
  return problems.find((problem) => problem !== null) ?? null;
}
