import { isTyping, usePageKeys } from './page-keys.ts';

/** X selects the row with the keyboard focus, Shift+X the range to it. `name`: the data attribute that has the row's id. */
export function useSelectKey(name: 'call' | 'run', choose: (id: string, isRange: boolean) => void): void {
  usePageKeys((event) => {
    if (event.key.toLowerCase() !== 'x' || isTyping(event)) return;
    const id = document.activeElement?.closest<HTMLElement>(`[data-${name}]`)?.dataset[name];
    if (id !== undefined) choose(id, event.shiftKey);
  });
}
