import { isTyping } from './page-keys.ts';

const STEPS: Readonly<Record<string, number>> = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };

/** Number of rows that a key moves by; undefined if it is not a list key. */
export function stepOf(event: KeyboardEvent): number | undefined {
  return isTyping(event) ? undefined : STEPS[event.key];
}

/** Returns the index `step` rows further, clamped to the list. */
export function stepped(at: number, step: number, count: number): number {
  return Math.min(Math.max(at + step, 0), count - 1);
}

/** Moves the focus between the buttons with class `entry` by list keys. */
export function moveInList(event: KeyboardEvent): void {
  const step = stepOf(event);
  const list = event.currentTarget;
  if (step === undefined || !(list instanceof HTMLElement)) return;
  event.preventDefault();
  moveFocus(list, '.entry', step);
}

/**
 * Moves the focus between the elements of `list` that match `entry`. J and K act anywhere on the page, arrow keys only in
 * the list: elsewhere they scroll the page.
 */
export function moveFromPage(event: KeyboardEvent, list: HTMLElement | null, entry: string): void {
  const step = stepOf(event);
  if (step === undefined || list === null || isInDialog(event)) return;
  if (event.key.startsWith('Arrow') && !list.contains(document.activeElement)) return;
  event.preventDefault();
  moveFocus(list, entry, step);
}

/** A dialog has lists of its own. */
export function isInDialog({ target }: KeyboardEvent): boolean {
  return target instanceof Element && target.closest('[role="dialog"]') !== null;
}

function moveFocus(list: HTMLElement, entry: string, step: number): void {
  const entries = [...list.querySelectorAll<HTMLElement>(entry)];
  const at = entries.findIndex((one) => one === document.activeElement);
  entries[stepped(at, step, entries.length)]?.focus();
}

/** Returns the focus to the tool that was open. */
export function focusEntry(around: HTMLElement | null, tool: string): void {
  around?.querySelector<HTMLElement>(`.entry[data-tool="${CSS.escape(tool)}"]`)?.focus();
}
