import { reactive } from 'vue';
import { usePageKeys } from './page-keys.ts';

/** Opens the palette on ⌘K or Ctrl+K, on every page. */
export function usePaletteKey(): { isOpen: boolean } {
  const palette = reactive({ isOpen: false });
  const listen = (event: KeyboardEvent): void => {
    if (!(event.metaKey || event.ctrlKey) || event.key.toLowerCase() !== 'k') return;
    event.preventDefault();
    palette.isOpen = !palette.isOpen;
  };
  usePageKeys(listen);
  return palette;
}
