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
  const entries = [...list.querySelectorAll<HTMLElement>('.entry')];
  const at = entries.findIndex((entry) => entry === document.activeElement);
  entries[stepped(at, step, entries.length)]?.focus();
}

/** Returns the focus to the tool that was open. */
export function focusEntry(around: HTMLElement | null, tool: string): void {
  around?.querySelector<HTMLElement>(`.entry[data-tool="${CSS.escape(tool)}"]`)?.focus();
}
