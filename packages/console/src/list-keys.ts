import { isTyping } from './page-keys.ts';

const STEPS: Readonly<Record<string, number>> = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };

/** How far a key goes in a list; undefined: it is not meant for one. */
export function stepOf(event: KeyboardEvent): number | undefined {
  return isTyping(event) ? undefined : STEPS[event.key];
}

/** The place so many steps further, not beyond either end. */
export function stepped(at: number, step: number, count: number): number {
  return Math.min(Math.max(at + step, 0), count - 1);
}

/** For a list of buttons with the class `entry`: the keys go from one to the next. */
export function moveInList(event: KeyboardEvent): void {
  const step = stepOf(event);
  const list = event.currentTarget;
  if (step === undefined || !(list instanceof HTMLElement)) return;
  event.preventDefault();
  const entries = [...list.querySelectorAll<HTMLElement>('.entry')];
  const at = entries.findIndex((entry) => entry === document.activeElement);
  entries[stepped(at, step, entries.length)]?.focus();
}

/** Back to the tool that was open, where the keyboard came from. */
export function focusEntry(around: HTMLElement | null, tool: string): void {
  around?.querySelector<HTMLElement>(`.entry[data-tool="${CSS.escape(tool)}"]`)?.focus();
}
