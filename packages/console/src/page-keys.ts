import { onMounted, onUnmounted } from 'vue';

/** Listens for key events while the component is mounted. */
export function usePageKeys(onKey: (event: KeyboardEvent) => void): void {
  onMounted(() => addEventListener('keydown', onKey));
  onUnmounted(() => removeEventListener('keydown', onKey));
}

/** What Escape closes while the focus is elsewhere, newest last. Each returns false if it has nothing to close. */
const closers: (() => boolean)[] = [];

/** Calls `close` on Escape while the component is mounted, before a detail leads back. */
export function useEscape(close: () => boolean): void {
  onMounted(() => closers.push(close));
  onUnmounted(() => closers.splice(closers.indexOf(close), 1));
}

/** Closes the newest thing that is open. Returns false if there is none. */
export function closeNewest(): boolean {
  return closers.toReversed().some((close) => close());
}

/** Whether the key event belongs to an input field. */
export function isTyping(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return true;
  // The target inside the innermost shadow root: the editor uses one.
  const target = event.composedPath()[0];
  if (!(target instanceof HTMLElement)) return false;
  // Letters do nothing in a checkbox.
  if (target instanceof HTMLInputElement && target.type === 'checkbox') return false;
  // A list that follows a choice is walked at once; arrow keys choose, and no other key may act on a choice half made.
  if (target instanceof HTMLInputElement && target.type === 'radio') return !['j', 'k'].includes(event.key);
  return target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName);
}

/** The name of the command key on this platform. */
export const MODIFIER: string = navigator.userAgent.includes('Mac') ? '⌘' : 'Ctrl';
