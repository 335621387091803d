/* ---
action: top_categories
step: customize
description: The category with the highest value of each day.
inputs:
  daily_sales: {day: date, category: string, cents: bigint}
output: {primary_key: [day]}
examples:
  - given:
      daily_sales:
        - {day: "2026-03-02", category: tea, cents: 1050}
        - {day: "2026-03-02", category: cups, cents: 900}
    expect:
      - {day: "2026-03-02", category: tea, cents: 1050}
--- */
SELECT day, category, cents
FROM daily_sales
QUALIFY ROW_NUMBER() OVER (PARTITION BY day ORDER BY cents DESC, category) = 1
