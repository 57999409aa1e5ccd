import { onMounted, onUnmounted } from 'vue';

/** Hears every key for as long as the component is there. */
export function usePageKeys(onKey: (event: KeyboardEvent) => void): void {
  onMounted(() => addEventListener('keydown', onKey));
  onUnmounted(() => removeEventListener('keydown', onKey));
}

/** Whether a key that was pressed is meant for a field and not for the page. */
export function isTyping(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return true;
  // The target as the innermost shadow root has it: the editor lives in one.
  const target = event.composedPath()[0];
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName);
}

/** How the keyboard in front of us names the key that commands are given with. */
export const MODIFIER: string = navigator.userAgent.includes('Mac') ? '⌘' : 'Ctrl';
