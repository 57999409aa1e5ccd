import type { RefusalFormat } from './problem.ts';
import { supportsHead, type Route } from './routes.ts';

/** The methods and the refusal format of one path. */
export interface ServedPath {
  /** Empty if no route has the path. */
  readonly methods: readonly string[];
  readonly refuse: RefusalFormat | undefined;
}

interface Pattern {
  readonly pattern: RegExp;
  readonly methods: Set<string>;
  readonly refuse: RefusalFormat | undefined;
}

/** Returns a function that finds the routes of a path, for 404 and 405 responses. */
export function pathFinder(routes: readonly Route[]): (path: string) => ServedPath {
  const patterns = new Map<string, Pattern>();
  for (const route of routes) {
    const { url, refuse } = route;
    const known = patterns.get(url) ?? { pattern: patternOf(url), methods: new Set(), refuse };
    patterns.set(url, known);
    known.methods.add(route.method);
    if (supportsHead(route)) known.methods.add('HEAD');
  }
  const all = [...patterns.values()];
  return (path) => {
    const matching = all.filter(({ pattern }) => pattern.test(path));
    return {
      methods: [...new Set(matching.flatMap(({ methods }) => [...methods]))],
      refuse: matching.find(({ refuse }) => refuse !== undefined)?.refuse,
    };
  };
}

function patternOf(url: string): RegExp {
  const parts = url.split('/').map((part) => {
    if (part === '*') return '.*';
    return part.startsWith(':') ? '[^/]+' : part.replaceAll(/[.+?^$()|[\]{}\\]/g, String.raw`\$&`);
  });
  return new RegExp(`^${parts.join('/')}$`);
}
