window.YTD.bookmark.part0 = [
  {
    "bookmark": {
      "tweetId": "300000",
      "fullText": "Read this",
      "expandedUrl": "https://twitter.com/ann/status/300000",
      "bookmarkedAt": "2020-09-13T12:26:40Z"
    }
  },
  {
    "sortIndex": "1",
    "bookmark": {
      "tweetId": "99"
    }
  }
]