import type { InputIssueView } from '../../views.ts';
import type { Reason } from '../../reasons/reason-text.ts';
import { pointerTo } from '../json-pointer.ts';
import { MAX_ISSUES, shortIssue } from './issues.ts';

/** Thrown when a check has used up its step budget. */
export class BudgetSpent extends Error {}

/** The state of checking one value: the remaining step budget, the current path and the issues found. */
export class CheckRun {
  readonly issues: InputIssueView[] = [];
  readonly #path: (string | number)[] = [];
  #stepsLeft: number;
  #suppressed = 0;

  constructor(steps: number) {
    this.#stepsLeft = steps;
  }

  spend(steps: number): void {
    this.#stepsLeft -= steps;
    if (this.#stepsLeft < 0) throw new BudgetSpent();
  }

  /** Whether further issues would not be recorded, so that a check may stop at the first failure. */
  get stopsAtFirst(): boolean {
    return this.#suppressed > 0 || this.issues.length >= MAX_ISSUES;
  }

  /** Records an issue. Returns false, so that a check can return the call. */
  fail(why: Reason): false {
    if (this.stopsAtFirst) return false;
    let path = '';
    for (const key of this.#path) path = pointerTo(path, key);
    const issue = shortIssue(path, why);
    // The branches of an `anyOf` often fail with the same issue.
    const isKnown = this.issues.some((known) => known.message === issue.message && known.path === issue.path);
    if (!isKnown) this.issues.push(issue);
    return false;
  }

  // Pairs of methods instead of one that takes a callback: these run for every value.

  /** Moves the current path to a member of the value, until `leave`. */
  enter(key: string | number): void {
    this.#path.push(key);
  }

  leave(): void {
    this.#path.pop();
  }

  /** Records no issues, and stops checks at the first failure, until `resumeIssues`. */
  suppressIssues(): void {
    this.#suppressed += 1;
  }

  resumeIssues(): void {
    this.#suppressed -= 1;
  }
}

/** Cost in steps of adding one key or index to `Evaluated`. */
const STEPS_PER_KEY = 5;

/** The evaluated properties and items of one value, for `unevaluatedProperties` and `unevaluatedItems`. */
export class Evaluated {
  readonly #seen: Set<string | number> = new Set();

  /** Property names are strings and item indexes are numbers, so one set holds both. */
  has(key: string | number): boolean {
    return this.#seen.has(key);
  }

  add(key: string | number, run: CheckRun): void {
    run.spend(STEPS_PER_KEY);
    this.#seen.add(key);
  }

  addAll(other: Evaluated, run: CheckRun): void {
    run.spend(other.#seen.size * STEPS_PER_KEY);
    for (const key of other.#seen) this.#seen.add(key);
  }
}

/** Returns whether the value is valid; issues are recorded in the run. */
export type Check = (value: unknown, run: CheckRun, evaluated: Evaluated | null) => boolean;

/** An embedder's value may have a member that is undefined; as in JSON text, it is absent. */
export function hasMember(value: Readonly<Record<string, unknown>>, name: string): boolean {
  return value[name] !== undefined && Object.hasOwn(value, name);
}

export function checkMember(check: Check, member: unknown, key: string | number, run: CheckRun): boolean {
  run.enter(key);
  const isValid = check(member, run, null);
  run.leave();
  return isValid;
}

/** Returns whether the value is valid, without recording issues. */
export function matches(check: Check, value: unknown, run: CheckRun, evaluated: Evaluated | null): boolean {
  run.suppressIssues();
  const isValid = check(value, run, evaluated);
  run.resumeIssues();
  return isValid;
}
