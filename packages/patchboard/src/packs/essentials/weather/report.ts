import type { JsonSchema } from '@patchboard/wire';

import type { CurrentWeather, FoundPlace } from './open-meteo.ts';
import { weatherText } from './wmo-codes.ts';

/** The result of `weather.query`, without `source` and `age_s`. */
export interface WeatherReport {
  readonly weather: string;
  readonly temperature: number;
  readonly apparent_temperature: number | null;
  readonly humidity: number | null;
  readonly precipitation: number | null;
  readonly wind_speed: number | null;
  readonly weather_code: number;
  readonly is_day: boolean | null;
  readonly observed_at: string | null;
  readonly units: CurrentWeather['units'];
  readonly place: {
    readonly name: string;
    readonly region: string | null;
    readonly country: string | null;
    readonly latitude: number;
    readonly longitude: number;
    readonly timezone: string | null;
  };
}

export function reportOf(place: FoundPlace, current: CurrentWeather): WeatherReport {
  return {
    weather: weatherText(current.weatherCode, current.isDay),
    temperature: current.temperature,
    apparent_temperature: current.apparentTemperature,
    humidity: current.humidity,
    precipitation: current.precipitation,
    wind_speed: current.windSpeed,
    weather_code: current.weatherCode,
    is_day: current.isDay,
    observed_at: current.observedAt,
    units: current.units,
    place: {
      name: place.name,
      region: place.regions[0] ?? null,
      country: place.country,
      latitude: place.latitude,
      longitude: place.longitude,
      timezone: current.timezone,
    },
  };
}

const PLACE_SCHEMA: JsonSchema = closedObject({
  name: { type: 'string' },
  region: { type: ['string', 'null'] },
  country: { type: ['string', 'null'] },
  latitude: { type: 'number', minimum: -90, maximum: 90 },
  longitude: { type: 'number', minimum: -180, maximum: 180 },
  timezone: { type: ['string', 'null'] },
});

export const REPORT_SCHEMA: JsonSchema = closedObject({
  weather: { type: 'string', description: 'The sky in words, for example "Sunny" or "Light rain".' },
  temperature: { type: 'number' },
  apparent_temperature: { type: ['number', 'null'] },
  humidity: { type: ['number', 'null'] },
  precipitation: { type: ['number', 'null'] },
  wind_speed: { type: ['number', 'null'] },
  weather_code: { type: 'number', description: 'WMO 4677.' },
  is_day: { type: ['boolean', 'null'] },
  observed_at: { type: ['string', 'null'], description: 'RFC 3339.' },
  units: closedObject({
    temperature: { type: 'string' },
    humidity: { type: 'string' },
    precipitation: { type: 'string' },
    wind_speed: { type: 'string' },
  }),
  place: PLACE_SCHEMA,
  source: { enum: ['live', 'cache'], description: '"cache" when the service did not answer.' },
  age_s: { type: 'integer', minimum: 0, description: 'Seconds since the service gave this answer.' },
});

function closedObject(properties: Readonly<Record<string, unknown>>): JsonSchema {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}
