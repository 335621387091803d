/* ---
action: played_games
version: 1.0.0
step: clean
description: Games that were really played, with the points of white.
synonyms: [played game]
inputs:
  games: {game_id: bigint, event_id: bigint, white_id: bigint, black_id: bigint, started_at: timestamp, result: string, moves: int, opening: string}
output: {primary_key: [game_id], event_time: started_at}
columns:
  game_id: {references: ods.games.game_id}
  event_id: {description: tournament of the game, references: ods.events.event_id}
  white_id: {description: player with the white pieces, references: ods.players.player_id}
  black_id: {description: player with the black pieces, references: ods.players.player_id}
  started_at: {description: when the game began, synonyms: [started, played]}
  moves: {description: number of moves, synonyms: [length, game length]}
  white_points: {description: 'points of white, 1 for a win and a half for a draw', synonyms: [points of white, score of white]}
measures:
  white_score: {sql: AVG(white_points), description: points that white makes per game, synonyms: [average score of white]}
  average_moves: {sql: AVG(moves), description: mean length of a game in moves, synonyms: [average length, average game length, mean length]}
dimensions:
  started_at: [year, quarter, month, week, day, hour]
--- */
SELECT
  game_id,
  event_id,
  white_id,
  black_id,
  started_at,
  result,
  moves,
  opening,
  CASE result WHEN 'W' THEN CAST(1 AS DOUBLE) WHEN 'D' THEN CAST(0.5 AS DOUBLE) ELSE CAST(0 AS DOUBLE) END AS white_points
FROM games
WHERE moves IS NOT NULL
