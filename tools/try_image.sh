#!/usr/bin/env bash
# Finds the pairs of two equal pages with an image, as its Dockerfile says: bash tools/try_image.sh IMAGE
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
text="The ferry to Holm island leaves twice a day from the old pier, at eight in the morning and at five"
text+=" in the afternoon, except on Sundays, when the crew has a rest."
for site in news mirror; do
    printf '{"url": "https://%s.example/ferry", "text": "%s"}\n' "$site" "$text"
done >"$folder/pages.jsonl"

found=$(docker run --rm -v "$folder:/data" "$1" scrapy neardup pairs /data/pages.jsonl -o -)
echo "$found"
if [ "$(grep -c mirror.example <<<"$found")" != 1 ]; then
    echo "the image did not find the one pair" >&2
    exit 1
fi
if [ "$(docker run --rm "$1" id -u)" = 0 ]; then
    echo "the image runs as root" >&2
    exit 1
fi
