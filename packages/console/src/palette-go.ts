import { useRouter, type RouteLocationRaw } from 'vue-router';

/** Returns the function of an entry that leads to a page. */
export function useGo(): (to: RouteLocationRaw) => () => void {
  const router = useRouter();
  return (to) => () => {
    router.push(to).catch(() => undefined);
  };
}
