import { reason } from '@patchboard/wire';
import type { ServerTool } from '../../../core/tools/server-tool.ts';
import { heritageTool, notFound, READS, type HeritageParts } from '../heritage-tool.ts';
import { inputOf, nullable, record, TEXTS } from '../tool-schemas.ts';

interface Input {
  readonly include_pois?: boolean;
  readonly include_routes?: boolean;
}

const POI = record({
  id: { type: 'string' },
  name: { type: 'string' },
  type: { type: 'string' },
  description: nullable('string'),
  latitude: nullable('number'),
  longitude: nullable('number'),
});

const ROUTE = record({
  id: { type: 'string' },
  name: { type: 'string' },
  description: nullable('string'),
  duration_minutes: nullable('integer'),
  poi_ids: TEXTS,
});

export function getSiteMap(parts: HeritageParts): ServerTool {
  return heritageTool<Input>(parts, {
    name: 'get_site_map',
    category: 'site',
    description: '获取站点地图',
    annotations: READS,
    input: inputOf(
      {
        include_pois: { type: 'boolean', description: '是否包含兴趣点，默认 true' },
        include_routes: { type: 'boolean', description: '是否包含路线，默认 false' },
      },
      ['include_pois', 'include_routes'],
    ),
    output: record({
      site_id: { type: 'string' },
      site_name: { type: 'string' },
      pois: { type: 'array', items: POI },
      routes: { type: 'array', items: ROUTE },
    }),
    run: async (
      { include_pois: withPois = true, include_routes: withRoutes = false },
      { storage, scope },
    ) => {
      const map = await storage.siteMap(scope);
      if (map === undefined) throw notFound(reason('heritage_site_unknown', { site: scope.site }));
      return {
        site_id: scope.site,
        site_name: map.name,
        pois: withPois ? map.pois : [],
        routes: withRoutes ? map.routes : [],
      };
    },
  });
}
