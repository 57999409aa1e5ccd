import { onMounted, onUnmounted, reactive } from 'vue';

/** ⌘K or Ctrl+K, anywhere. */
export function usePaletteKey(): { isOpen: boolean } {
  const palette = reactive({ isOpen: false });
  const listen = (event: KeyboardEvent): void => {
    if (!(event.metaKey || event.ctrlKey) || event.key.toLowerCase() !== 'k') return;
    event.preventDefault();
    palette.isOpen = !palette.isOpen;
  };
  onMounted(() => addEventListener('keydown', listen));
  onUnmounted(() => removeEventListener('keydown', listen));
  return palette;
}

/** Whether a key that was pressed is meant for a field and not for the page. */
export function isTyping(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return true;
  // The target as the innermost shadow root has it: the editor lives in one.
  const target = event.composedPath()[0];
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName);
}
