import { onMounted, onUnmounted } from 'vue';

/** Listens for key events while the component is mounted. */
export function usePageKeys(onKey: (event: KeyboardEvent) => void): void {
  onMounted(() => addEventListener('keydown', onKey));
  onUnmounted(() => removeEventListener('keydown', onKey));
}

/** Whether the key event belongs to an input field. */
export function isTyping(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return true;
  // The target inside the innermost shadow root: the editor uses one.
  const target = event.composedPath()[0];
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName);
}

/** The name of the command key on this platform. */
export const MODIFIER: string = navigator.userAgent.includes('Mac') ? '⌘' : 'Ctrl';
