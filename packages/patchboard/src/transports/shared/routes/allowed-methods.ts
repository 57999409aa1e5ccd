import { answersHead, type Route } from './routes.ts';

interface Path {
  readonly pattern: RegExp;
  readonly methods: Set<string>;
}

/** For a request that no route took: the methods with which one would have, empty where the path is nobody's. */
export function allowedMethods(routes: readonly Route[]): (path: string) => readonly string[] {
  const paths = new Map<string, Path>();
  for (const route of routes) {
    const path = paths.get(route.url) ?? { pattern: patternOf(route.url), methods: new Set() };
    paths.set(route.url, path);
    path.methods.add(route.method);
    if (answersHead(route)) path.methods.add('HEAD');
  }
  const all = [...paths.values()];
  return (path) => [
    ...new Set(all.filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => [...methods])),
  ];
}

function patternOf(url: string): RegExp {
  const parts = url.split('/').map((part) => {
    if (part === '*') return '.*';
    return part.startsWith(':') ? '[^/]+' : part.replaceAll(/[.+?^$()|[\]{}\\]/g, String.raw`\$&`);
  });
  return new RegExp(`^${parts.join('/')}$`);
}
