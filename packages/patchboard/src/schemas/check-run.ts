import type { InputIssueView } from '@patchboard/wire';
import { pointerTo } from '../core/json/json-pointer.ts';
import { MAX_ISSUES, shortIssue } from './issues.ts';

/** Thrown when a check has cost all it may. */
export class BudgetSpent extends Error {}

/** The state of one check of one value: what it may still cost, where it is, and what it found. */
export class CheckRun {
  readonly issues: InputIssueView[] = [];
  readonly #path: (string | number)[] = [];
  #stepsLeft: number;
  #quiet = 0;

  constructor(steps: number) {
    this.#stepsLeft = steps;
  }

  spend(steps: number): void {
    this.#stepsLeft -= steps;
    if (this.#stepsLeft < 0) throw new BudgetSpent();
  }

  /** Whether nothing more is to be said, so that the first failure may end it. */
  get isBrief(): boolean {
    return this.#quiet > 0 || this.issues.length >= MAX_ISSUES;
  }

  /** Always false, the verdict of the check that calls it. */
  fail(message: string): false {
    if (this.isBrief) return false;
    let path = '';
    for (const key of this.#path) path = pointerTo(path, key);
    const issue = shortIssue(path, message);
    // The branches of an `anyOf` often fail alike.
    const isKnown = this.issues.some((known) => known.message === issue.message && known.path === issue.path);
    if (!isKnown) this.issues.push(issue);
    return false;
  }

  // Pairs of calls instead of functions that take a function: these run for every value.

  /** From here on checks are about a member of the value, until `leave`. */
  enter(key: string | number): void {
    this.#path.push(key);
  }

  leave(): void {
    this.#path.pop();
  }

  /** From here on a failure is no failure of the value and ends the check at once, until `speakUp`. */
  hush(): void {
    this.#quiet += 1;
  }

  speakUp(): void {
    this.#quiet -= 1;
  }
}

/** Steps of remembering one key or item in `Evaluated`. */
const STEPS_TO_REMEMBER = 5;

/** What the schemas for one value have looked at, for `unevaluatedProperties` and `unevaluatedItems`. */
export class Evaluated {
  readonly #seen: Set<string | number> = new Set();

  /** Names of properties are strings and places in lists are numbers, so they never meet. */
  has(key: string | number): boolean {
    return this.#seen.has(key);
  }

  add(key: string | number, run: CheckRun): void {
    run.spend(STEPS_TO_REMEMBER);
    this.#seen.add(key);
  }

  addAll(other: Evaluated, run: CheckRun): void {
    run.spend(other.#seen.size * STEPS_TO_REMEMBER);
    for (const key of other.#seen) this.#seen.add(key);
  }
}

/** Answers whether the value passes; what is wrong goes to the run. */
export type Check = (value: unknown, run: CheckRun, evaluated: Evaluated | null) => boolean;

/** Checks a member of the value. */
export function checkMember(check: Check, member: unknown, key: string | number, run: CheckRun): boolean {
  run.enter(key);
  const isValid = check(member, run, null);
  run.leave();
  return isValid;
}

/** Whether the value would pass, without a word about why not. */
export function matches(check: Check, value: unknown, run: CheckRun, evaluated: Evaluated | null): boolean {
  run.hush();
  const isValid = check(value, run, evaluated);
  run.speakUp();
  return isValid;
}
