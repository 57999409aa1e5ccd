import { reason } from '@patchboard/wire';
import { isRecord } from '@patchboard/wire/json';
import { ServiceError, fetchJson } from './fetch-json.ts';
import type { Fetch } from './fetch-json.ts';

/** The origins of the service; `/v1/search` and `/v1/forecast` are added. */
export interface OpenMeteoOptions {
  readonly forecastUrl: string;
  readonly geocodingUrl: string;
  readonly fetch: Fetch;
}

/** One hit of the geocoding search. */
export interface FoundPlace {
  readonly name: string;
  readonly country: string | null;
  readonly countryCode: string | null;
  /** Ordered from the largest region to the smallest. */
  readonly regions: readonly string[];
  readonly latitude: number;
  readonly longitude: number;
}

/** The current weather at a place; missing values are null. */
export interface CurrentWeather {
  readonly temperature: number;
  readonly apparentTemperature: number | null;
  readonly humidity: number | null;
  readonly precipitation: number | null;
  readonly windSpeed: number | null;
  readonly weatherCode: number;
  readonly isDay: boolean | null;
  readonly observedAt: string | null;
  readonly timezone: string | null;
  readonly units: Readonly<Record<'temperature' | 'humidity' | 'precipitation' | 'wind_speed', string>>;
}

export interface OpenMeteo {
  search(name: string, language: string, signal: AbortSignal): Promise<readonly FoundPlace[]>;
  current(latitude: number, longitude: number, signal: AbortSignal): Promise<CurrentWeather>;
}

const CURRENT =
  'temperature_2m,relative_humidity_2m,apparent_temperature,is_day,precipitation,weather_code,wind_speed_10m';

export function openMeteo(options: OpenMeteoOptions): OpenMeteo {
  return {
    async search(name, language, signal) {
      const query = { name, count: '10', language, format: 'json' };
      return readPlaces(
        await fetchJson(options.fetch, address(options.geocodingUrl, 'search', query), signal),
      );
    },
    async current(latitude, longitude, signal) {
      const query = {
        latitude: String(latitude),
        longitude: String(longitude),
        current: CURRENT,
        timezone: 'auto',
      };
      return readCurrent(
        await fetchJson(options.fetch, address(options.forecastUrl, 'forecast', query), signal),
      );
    },
  };
}

function address(base: string, route: string, query: Readonly<Record<string, string>>): URL {
  const url = new URL(`${base.replace(/\/+$/, '')}/v1/${route}`);
  url.search = new URLSearchParams(query).toString();
  return url;
}

function readPlaces(body: unknown): readonly FoundPlace[] {
  if (!isRecord(body)) throw new ServiceError(reason('weather_places_not_object'));
  const results = body['results'] ?? []; // left out when nothing matches
  if (!Array.isArray(results)) throw new ServiceError(reason('weather_places_not_list'));
  return results.map(readPlace);
}

function readPlace(entry: unknown): FoundPlace {
  if (!isRecord(entry)) throw new ServiceError(reason('weather_place_not_object'));
  const latitude = numberIn(entry, 'latitude');
  const longitude = numberIn(entry, 'longitude');
  const name = textIn(entry, 'name');
  if (latitude === null || longitude === null || name === null) {
    throw new ServiceError(reason('weather_place_incomplete'));
  }
  const regions = ['admin1', 'admin2', 'admin3', 'admin4'].map((level) => textIn(entry, level));
  return {
    name,
    country: textIn(entry, 'country'),
    countryCode: textIn(entry, 'country_code'),
    regions: regions.filter((region) => region !== null),
    latitude,
    longitude,
  };
}

function readCurrent(body: unknown): CurrentWeather {
  const current = isRecord(body) ? body['current'] : undefined;
  if (!isRecord(body) || !isRecord(current)) throw new ServiceError(reason('weather_current_missing'));
  const temperature = numberIn(current, 'temperature_2m');
  const weatherCode = numberIn(current, 'weather_code');
  if (temperature === null || weatherCode === null) {
    throw new ServiceError(reason('weather_current_incomplete'));
  }
  const units = isRecord(body['current_units']) ? body['current_units'] : {};
  const isDay = numberIn(current, 'is_day');
  return {
    temperature,
    apparentTemperature: numberIn(current, 'apparent_temperature'),
    humidity: numberIn(current, 'relative_humidity_2m'),
    precipitation: numberIn(current, 'precipitation'),
    windSpeed: numberIn(current, 'wind_speed_10m'),
    weatherCode,
    isDay: isDay === null ? null : isDay === 1,
    observedAt: observationTime(textIn(current, 'time'), numberIn(body, 'utc_offset_seconds')),
    timezone: textIn(body, 'timezone'),
    // The request names no units, so a missing unit is the documented default.
    units: {
      temperature: textIn(units, 'temperature_2m') ?? '°C',
      humidity: textIn(units, 'relative_humidity_2m') ?? '%',
      precipitation: textIn(units, 'precipitation') ?? 'mm',
      wind_speed: textIn(units, 'wind_speed_10m') ?? 'km/h',
    },
  };
}

/** The service returns local time without a zone (`2026-01-31T08:15`), and the offset separately. */
function observationTime(local: string | null, offsetSeconds: number | null): string | null {
  if (local === null || offsetSeconds === null) return null;
  const asIfUtc = Date.parse(`${local}Z`);
  return Number.isNaN(asIfUtc) ? null : new Date(asIfUtc - offsetSeconds * 1000).toISOString();
}

function numberIn(record: Readonly<Record<string, unknown>>, name: string): number | null {
  const value = record[name];
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

function textIn(record: Readonly<Record<string, unknown>>, name: string): string | null {
  const value = record[name];
  return typeof value === 'string' && value !== '' ? value : null;
}
