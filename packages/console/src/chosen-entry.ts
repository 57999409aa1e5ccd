import { onMounted, watch } from 'vue';

/**
 * Scrolls to the chosen entry of a list, which has `aria-current`, when the list is mounted and when another entry is chosen:
 * a link, a key or the list's own height may leave it out of view. Without a chosen entry it scrolls to the focused one.
 */
export function useChosenEntry(list: () => HTMLElement | null, chosen: () => string): void {
  function show(): void {
    const entry = list()?.querySelector('[aria-current]') ?? list()?.querySelector(':focus');
    entry?.scrollIntoView({ block: 'nearest' });
  }
  onMounted(show);
  watch(chosen, show, { flush: 'post' });
}
