import {
  nearestName,
  PEER_ID_PATTERN,
  reason,
  reasonText,
  type Reason,
  type ReasonView,
} from '@patchboard/wire';
import { foreignText } from '../core/failures.ts';

/** What is wrong with a value, with its place. */
export type Problem = readonly ReasonView[];

/** Returns what is wrong with the value, or null if it is valid. */
export type Rule = (value: unknown, place: string) => Problem | null;

/** One rule for each member. Other members are errors. */
export type Shape<T> = Readonly<Record<keyof T & string, Rule>>;

export const anything: Rule = () => null;
export const text: Rule = must(reason('must_be_text'), (value) => typeof value === 'string');
export const callable: Rule = must(reason('must_be_function'), (value) => typeof value === 'function');
export const flag: Rule = must(reason('must_be_boolean'), (value) => typeof value === 'boolean');

export function wholeNumber(least: number): Rule {
  return must(
    reason('must_be_whole_number', { least }),
    (value) => Number.isSafeInteger(value) && Number(value) >= least,
  );
}

/** Ids of agents, runs and operators. */
export const peerId: Rule = must(
  reason('must_be_peer_id'),
  (value) => typeof value === 'string' && PEER_ID_PATTERN.test(value),
);

export const texts: Rule = (value, place) => {
  if (typeof value === 'string') return [reason('must_be_list_write', { place, item: value })];
  if (!Array.isArray(value)) return wrongValue(value, place, reason('must_be_texts'));
  const wrong = value.findIndex((item) => typeof item !== 'string');
  return wrong === -1 ? null : text(value[wrong], `${place}[${wrong}]`);
};

export function oneOf(allowed: readonly string[]): Rule {
  return (value, place) =>
    allowed.includes(value as string)
      ? null
      : [
          reason('value_not_in_list', {
            place,
            found: [found(value)],
            suggestion: [suggestion(value, allowed)],
          }),
        ];
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
    if (!isObject(value) || Array.isArray(value)) return wrongValue(value, place, reason('must_be_object'));
    const at = (key: string): string => (place === '' ? key : `${place}.${key}`);
    return firstOf(
      Object.keys(value).map((key) => {
        const member: unknown = Reflect.get(value, key);
        if (!Object.hasOwn(shape, key))
          return [reason('member_not_known', { place: at(key), suggestion: [suggestion(key, known)] })];
        return member === undefined ? null : shape[key as keyof T & string](member, at(key));
      }),
    );
  };
}

export function must(problem: Reason, holds: (value: unknown) => boolean): Rule {
  return (value, place) => (holds(value) ? null : wrongValue(value, place, problem));
}

function wrongValue(value: unknown, place: string, why: Reason): Problem {
  const problem = [why];
  if (place === '') return [reason('this_problem', { problem, found: [found(value)] })];
  return [reason('value_problem', { place, problem, found: [found(value)] })];
}

/** Suggests the nearest known name, or lists all. */
function suggestion(given: unknown, known: readonly string[]): Reason {
  const names = known.join(', ');
  if (typeof given !== 'string') return reason('suggestion_one_of', { names });
  const meant = nearestName(given, known);
  return meant === null
    ? reason('suggestion_known', { names })
    : reason('suggestion_nearest', { name: meant });
}

const SHOWN_CHARACTERS = 40;

/** Formats a value for an error message. */
export function shown(value: unknown): string {
  return reasonText(found(value));
}

function found(value: unknown): Reason {
  if (Array.isArray(value)) return reason('value_is_list');
  if (typeof value === 'object' && value !== null) return reason('value_is_object');
  if (typeof value === 'function') return reason('value_is_function');
  return foreignText(typeof value === 'string' ? quoted(value) : String(value));
}

function quoted(value: string): string {
  return value.length > SHOWN_CHARACTERS ? `'${value.slice(0, SHOWN_CHARACTERS)}…'` : `'${value}'`;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function firstOf(problems: readonly (Problem | null)[]): Problem | null {
  return problems.find((problem) => problem !== null) ?? null;
}
