import { reason, type Reason } from '@patchboard/wire';
import { skeletonOf } from './skeleton.ts';
import { isList, type QueryParams, type Scalar } from './worker/protocol.ts';

/** `?`, `?12`, `:name`, `@name` and `$name`, in a text without quoted parts and comments. */
const PLACEHOLDER = /\?(\d*)|[:@$][\w\u0080-\uffff]+/g;

/** Returns the problem with the params of a SQLite statement. SQLite itself silently binds NULL for missing ones. */
export function problemWithParams(sql: string, params: QueryParams): Reason | undefined {
  const { names, inList } = placeholdersOf(skeletonOf(sql, 'sqlite') ?? '');
  if (!isList(params)) return problemWithNames(names, inList, params);
  if (names.length > 0) return reason('sql_params_by_name', { names: names.join(', ') });
  if (params.length === inList) return undefined;
  return reason('sql_params_count', { wanted: inList, given: params.length });
}

function problemWithNames(
  names: readonly string[],
  inList: number,
  params: Readonly<Record<string, Scalar>>,
): Reason | undefined {
  if (inList > 0) return reason('sql_params_in_list', { count: inList });
  const missing = names.filter(
    (name) => !Object.hasOwn(params, name) && !Object.hasOwn(params, name.slice(1)),
  );
  return missing.length === 0 ? undefined : reason('sql_params_missing', { names: missing.join(', ') });
}

/** Numbers placeholders like SQLite: each `?` and each new name gets the highest number so far plus one. */
function placeholdersOf(skeleton: string): { names: string[]; inList: number } {
  const names = new Set<string>();
  let greatest = 0;
  for (const [text, digits] of skeleton.matchAll(PLACEHOLDER)) {
    if (text.startsWith('?')) greatest = Math.max(greatest, digits ? Number(digits) : greatest + 1);
    else if (!names.has(text)) {
      names.add(text);
      greatest += 1;
    }
  }
  return { names: [...names], inList: greatest - names.size };
}
